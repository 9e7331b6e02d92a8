import type { NamedSeries, Point, RequestPoint } from './reports.js'

/** A series by its numbers: the times stay those of the clock. One number stands for every point. */
type SeriesFigure = number | readonly number[]

/**
 * A field set by hand. A list of points is given out as it is. A list of numbers takes the times of the clock: lists
 * over the days of a month begin on the first day, all others end now; what is missing is 0.
 */
type Figure<T> = T extends readonly RequestPoint[]
  ? T | SeriesFigure
  : T extends readonly NamedSeries[]
    ? T | Readonly<Record<string, SeriesFigure>>
    : T extends readonly Point[]
      ? T | SeriesFigure
      : T

export type Figures<Report> = { readonly [Name in keyof Report]?: Figure<Report[Name]> }

/** Arrays over the days of a month; all others end now. */
const monthly = new Set(['daily_requests', 'daily_billings', 'daily_bandwidths'])

/** A report in which some fields were set by hand. */
export function withFigures<Report extends object>(report: Report, figures: Figures<Report>): Report {
  const out = { ...report } as Record<string, unknown>
  // The search index's daily arrays have the same names, but cover the last five days.
  const overMonth = 'dlq_message_count' in report
  for (const [name, figure] of Object.entries(figures)) {
    if (figure !== undefined) out[name] = applied(out[name], figure, overMonth && monthly.has(name))
  }
  return out as Report
}

function applied(counted: unknown, figure: unknown, fromStart: boolean): unknown {
  if (!Array.isArray(counted) || typeof counted[0] === 'string') return figure
  if (isNamed(counted)) {
    if (Array.isArray(figure)) return figure
    const byId = figure as Readonly<Record<string, SeriesFigure>>
    return counted.map((series) => {
      const own = byId[series.id]
      return own === undefined ? series : { ...series, data_points: filled(series.data_points, own, false) }
    })
  }
  return isNumbers(figure) ? filled(counted as readonly Point[], figure, fromStart) : figure
}

function isNamed(counted: readonly unknown[]): counted is readonly NamedSeries[] {
  return counted.length > 0 && typeof (counted[0] as NamedSeries).id === 'string'
}

function isNumbers(figure: unknown): figure is SeriesFigure {
  return typeof figure === 'number' || (Array.isArray(figure) && figure.every((item) => typeof item === 'number'))
}

function filled(points: readonly Point[], figure: SeriesFigure, fromStart: boolean): Point[] {
  if (typeof figure === 'number') return points.map((point) => ({ ...point, y: figure }))
  const offset = fromStart ? 0 : points.length - figure.length
  return points.map((point, index) => ({ ...point, y: figure[index - offset] ?? 0 }))
}
