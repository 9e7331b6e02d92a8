import { checkOptionNames } from '../kernel/nearest-name.js'
import type { NamedSeries, RequestPoint, SeriesPoint } from './reports.js'
import type { CommandSeries } from './store-report.js'

/**
 * Overrides of the values of a series. The times of its points stay unchanged. A single number applies to every point.
 */
type SeriesFigure = number | readonly number[]

/**
 * New value of a field. A list of points replaces the whole series. A list of numbers replaces the values and keeps the
 * times of the points. In a series over the days of a month, the list begins on the first day. In all other series, its
 * last number belongs to the last point. Points without a number are 0.
 */
type Figure<T> = T extends readonly RequestPoint[]
  ? T | SeriesFigure
  : T extends readonly (NamedSeries | CommandSeries)[]
    ? T | Readonly<Record<string, SeriesFigure>>
    : T extends readonly SeriesPoint[]
      ? T | SeriesFigure
      : T extends SeriesPoint
        ? T | number
        : T

/** Fields of a report that a test replaces with other values. */
export type StatsOverrides<Report> = { readonly [Name in keyof Report]?: Figure<Report[Name]> }

/**
 * Fields of the queue report that cover the days of a month. A list of numbers for such a field begins on the first
 * day.
 */
const monthly = new Set(['daily_requests', 'daily_billings', 'daily_bandwidths'])

export function withFigures<Report extends object>(report: Report, figures: StatsOverrides<Report>): Report {
  const out = { ...report } as Record<string, unknown>
  // The report of a search index has fields with the same names. There, they cover the last five days and not a month.
  const overMonth = 'dlq_message_count' in report
  for (const [name, figure] of Object.entries(figures)) {
    if (figure !== undefined) out[name] = applied(out[name], figure, overMonth && monthly.has(name))
  }
  return out as Report
}

function applied(counted: unknown, figure: unknown, fromStart: boolean): unknown {
  if (isPoint(counted) && typeof figure === 'number') return { ...counted, y: figure }
  if (!Array.isArray(counted) || typeof counted[0] === 'string') return figure
  if (isNamed(counted)) {
    if (Array.isArray(figure)) return figure
    const byId = figure as Readonly<Record<string, SeriesFigure>>
    return counted.map((series) => {
      const own = byId[nameOf(series)]
      return own === undefined ? series : { ...series, data_points: filled(series.data_points, own, false) }
    })
  }
  return isNumbers(figure) ? filled(counted as readonly SeriesPoint[], figure, fromStart) : figure
}

type Named = NamedSeries | CommandSeries

function nameOf(series: Named): string {
  return 'id' in series ? series.id : series.metric_identifier
}

function isNamed(counted: readonly unknown[]): counted is readonly Named[] {
  return counted.length > 0 && typeof counted[0] === 'object' && typeof nameOf(counted[0] as Named) === 'string'
}

function isNumbers(figure: unknown): figure is SeriesFigure {
  return typeof figure === 'number' || (Array.isArray(figure) && figure.every((item) => typeof item === 'number'))
}

function filled(points: readonly SeriesPoint[], figure: SeriesFigure, fromStart: boolean): SeriesPoint[] {
  if (typeof figure === 'number') return points.map((point) => ({ ...point, y: figure }))
  const offset = fromStart ? 0 : points.length - figure.length
  return points.map((point, index) => ({ ...point, y: figure[index - offset] ?? 0 }))
}

/** @throws TypeError when the overridden fields are not an object */
export function checkFields(caller: string, figures: unknown): void {
  if (typeof figures === 'object' && figures !== null && !Array.isArray(figures)) return
  throw new TypeError(`${caller}: pass an object with fields of the report (got ${JSON.stringify(figures)}).`)
}

/**
 * Checks overridden fields.
 * @throws TypeError when the report has no such field or the value has another type
 * @throws RangeError when JSON cannot represent a number
 */
export function checkFigures(caller: string, figures: object, report: object): void {
  checkFields(caller, figures)
  for (const [name, figure] of Object.entries(figures)) {
    const counted = Object.hasOwn(report, name) ? (report as Record<string, unknown>)[name] : undefined
    if (counted === undefined) {
      throw new TypeError(
        `${caller}: unknown field ${JSON.stringify(name)}. Use one of ${Object.keys(report).join(', ')}.`,
      )
    }
    checkSeries(caller, name, figure, counted)
    checkKind(caller, name, figure, counted)
    checkPoints(caller, name, figure)
    const wrong = numbersIn(figure).find((number) => !Number.isFinite(number))
    if (wrong !== undefined)
      throw new RangeError(
        `${caller}: ${name} must be a finite number (got ${wrong}), because JSON has no infinity and no NaN.`,
      )
  }
}

function checkSeries(caller: string, name: string, figure: unknown, counted: unknown): void {
  if (figure === undefined || !Array.isArray(counted) || !isNamed(counted) || Array.isArray(figure)) return
  const ids = counted.map(nameOf)
  const unknown = Object.keys(Object(figure)).find((id) => !ids.includes(id))
  if (typeof figure === 'object' && unknown === undefined) return
  throw new TypeError(
    unknown === undefined
      ? `${caller}: ${name} must be an object of numbers by series ID, such as { ${ids[0]}: [1, 2] }, or a list of series.`
      : `${caller}: ${name} has no series ${JSON.stringify(unknown)}. Use one of ${ids.join(', ')}.`,
  )
}

/** Checks the type of a value. With a wrong type, the response would be one that the real service never sends. */
function checkKind(caller: string, name: string, figure: unknown, counted: unknown): void {
  if (figure === undefined) return
  const [isRight, kind] = kindOf(counted)
  if (!isRight(figure)) throw new TypeError(`${caller}: ${name} must be ${kind} (got ${JSON.stringify(figure)}).`)
}

type Kind = readonly [isRight: (figure: unknown) => boolean, kind: string]

function kindOf(counted: unknown): Kind {
  if (isPoint(counted)) return [(figure) => typeof figure === 'number' || isPoint(figure), 'a number or { x, y }']
  if (typeof counted === 'boolean') return [(figure) => typeof figure === 'boolean', 'true or false']
  if (!Array.isArray(counted)) return [(figure) => typeof figure === 'number', 'a number']
  if (typeof counted[0] === 'string') return [isListOf((name) => typeof name === 'string'), 'a list of names']
  if (isNamed(counted)) {
    const [id] = Object.keys(counted[0]!)
    return [isSeriesFigure(id!), `an object of numbers by series ID, or a list of { ${id}, data_points }`]
  }
  return [
    (figure) => isNumbers(figure) || isListOf(isPoint)(figure),
    'a number, a list of numbers, or a list of { x, y }',
  ]
}

function isListOf(isItem: (item: unknown) => boolean): (figure: unknown) => boolean {
  return (figure) => Array.isArray(figure) && figure.every(isItem)
}

function isSeriesFigure(id: string): (figure: unknown) => boolean {
  return (figure) =>
    Array.isArray(figure)
      ? figure.every((item) => isSeries(item, id))
      : Object.values(Object(figure)).every((own) => own === undefined || isNumbers(own))
}

/** @throws TypeError when a point or a series has an unknown field */
function checkPoints(caller: string, name: string, figure: unknown): void {
  if (isPoint(figure)) checkOptionNames(`The point ${name} in ${caller}`, figure as object, ['x', 'y'])
  if (!Array.isArray(figure)) return
  for (const item of figure) {
    if (typeof item !== 'object' || item === null) continue
    if ('data_points' in item) {
      checkOptionNames(`A series of ${name} in ${caller}`, item, ['id', 'metric_identifier', 'data_points'])
      checkPoints(caller, `${name}.data_points`, item.data_points)
    } else checkOptionNames(`A point of ${name} in ${caller}`, item, ['x', 'y', 'workflow_message', 'workflow_run'])
  }
}

function isSeries(item: unknown, id: string): boolean {
  const series = Object(item) as Readonly<Record<string, unknown>>
  return typeof series[id] === 'string' && isListOf(isPoint)(series.data_points)
}

function isPoint(item: unknown): item is SeriesPoint {
  const { x, y } = Object(item) as Partial<SeriesPoint>
  return typeof x === 'string' && typeof y === 'number'
}

/** Returns all numbers in a value: the value may be a number, a list, or lists by name. */
function numbersIn(figure: unknown): number[] {
  if (typeof figure === 'number') return [figure]
  return typeof figure === 'object' && figure !== null ? Object.values(figure).flatMap(numbersIn) : []
}
