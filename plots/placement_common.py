# SPDX-License-Identifier: GPL-3.0-or-later
"""What the figures of the placement study share."""

import style


def gains(path):
    """The sweep's points with `gain`: mean JCT under random placement over that of the point, same seed."""
    with style.open_results(path) as f:
        table = style.points(f)
    table = table.rename(columns={"placement.name": "placement", "predictor.source": "source",
                                  "predictor.sigma": "sigma"})
    random = table[table.placement == "random"].set_index("replica").jct_mean_s
    if random.empty:
        raise style.BadInput(f"{path}: no run of random to compare with")
    table["gain"] = table.replica.map(random) / table.jct_mean_s
    return table
