# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for dlsim(1): the program knows its words.
eval "$(dlsim completion bash)"
