/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws sampled series for terminals (one line of block characters) and as SVG files with one panel
 * a series; long series are reduced to the maximum of each piece.
 */
#include "predictor/cli/perf_plot.h"

#include "base/atomicfile.h"

#define WIDTH 900 /* of a panel */
#define HEIGHT 110
#define GAP 50
#define LEFT 90

static double greatest(const dls_plot_series *s, size_t begin, size_t end)
{
    double max = 0;
    for (size_t i = begin; i < end; i++) {
        max = s->x[i] > max ? s->x[i] : max;
    }
    return max;
}

/* Part i of parts, at least one value. */
static double part(const dls_plot_series *s, size_t i, size_t parts)
{
    const size_t begin = i * s->n / parts;
    const size_t end = (i + 1) * s->n / parts;
    return greatest(s, begin, end > begin ? end : begin + 1);
}

void dls_plot_line(FILE *to, const dls_plot_series *s, size_t width)
{
    static const char *const steps[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double top = greatest(s, 0, s->n);
    const size_t parts = s->n < width ? s->n : width;
    for (size_t i = 0; i < parts; i++) {
        const double height = top > 0 ? part(s, i, parts) / top : 0;
        fputs(steps[height > 0 ? (int)(height * 7.999) + 1 : 0], to);
    }
    fputc('\n', to);
}

static void text(FILE *to, const char *s)
{
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '<' || c == '>' || c == '&') {
            fprintf(to, "&#%d;", c);
        } else if (c >= ' ') {
            fputc(c, to);
        }
    }
}

static void panel(FILE *to, const dls_plot_series *s, int top)
{
    const double max = greatest(s, 0, s->n);
    const size_t parts = s->n < WIDTH ? s->n : WIDTH;
    const double scale = max > 0 ? HEIGHT / max : 0;
    fprintf(to, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">", LEFT, top - 6);
    text(to, s->name);
    fprintf(to, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g %s</text>\n", LEFT - 6,
            top + 10, max, s->unit);
    fprintf(to,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g s</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n"
            "<polyline fill=\"none\" stroke=\"#1f5fa8\" points=\"",
            LEFT - 6, top + HEIGHT, LEFT + WIDTH, top + HEIGHT + 14, (double)s->n * s->interval_s,
            LEFT, top, WIDTH, HEIGHT);
    for (size_t i = 0; i < parts; i++) { /* steps: a value holds for its interval */
        const double y = top + HEIGHT - scale * part(s, i, parts);
        const double x = LEFT + (double)i * WIDTH / (double)parts;
        fprintf(to, "%.1f,%.1f %.1f,%.1f ", x, y, x + WIDTH / (double)parts, y);
    }
    fputs("\"/>\n", to);
    if (s->threshold >= 0 && max > 0) {
        const double y = top + HEIGHT - scale * s->threshold;
        fprintf(to,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\" "
                "stroke-dasharray=\"4 3\"/>\n",
                LEFT, LEFT + WIDTH, y, y);
    }
}

typedef struct picture {
    const char *title;
    const dls_plot_series *series;
    size_t n;
} picture;

static dls_status put_svg(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const picture *p = what;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"18\">",
            LEFT + WIDTH + 20, 30 + (int)p->n * (HEIGHT + GAP), LEFT);
    text(to, p->title);
    fputs("</text>\n", to);
    for (size_t i = 0; i < p->n; i++) {
        panel(to, &p->series[i], GAP + (int)i * (HEIGHT + GAP));
    }
    fputs("</svg>\n", to);
    return DLS_OK;
}

dls_status dls_plot_svg(const char *path, const char *title, const dls_plot_series *series,
                        size_t n, dls_error *err)
{
    return dls_atomicfile_write(path, put_svg, &(picture){title, series, n}, err);
}
