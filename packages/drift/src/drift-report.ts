import { plural } from '../../../src/kernel/plural.js'
import { plainText } from '../../../src/report/safe-text.js'
import type { LeftOut } from './case.js'
import { normalized } from './compare-sides.js'
import type { DriftFinding, DriftReport } from './drift-run.js'

/** Maximum number of requests that the report shows for each difference. */
const maxPlaces = 3

/** Formats the result of a run as text. @param hide function that removes secrets from a text */
export function reportText(outcome: DriftReport, hide: (text: string) => string): string {
  const { findings, compared, same, following, leftOut, broken, ended } = outcome
  const fresh = findings.filter(({ named }) => named === undefined)
  const named = findings.filter((finding) => finding.named !== undefined)
  const lines = [
    ...fresh.flatMap((finding) => ['', `new: ${finding.what}`, ...body(finding, hide)]),
    ...named.flatMap((finding) => [
      '',
      `known: ${finding.named!.name} (${finding.named!.where})`,
      ...body(finding, hide),
    ]),
    ...list('left out', leftOut),
    ...list('not run', broken),
    '',
    ...(ended === undefined ? [] : [`The comparison ended early: ${ended}.`]),
    `${plural(compared, 'response')} compared: ${same} the same, ${plural(named.length, 'known difference')}, ${plural(fresh.length, 'new difference')}.${
      following === 0
        ? ''
        : ` Not counted: ${plural(following, 'response')} with a further difference, because an earlier response with the same key or name already differed.`
    }`,
  ]
  return lines
    .slice(lines[0] === '' ? 1 : 0)
    .map((line) => plainText(hide(line)))
    .join('\n')
}

function body({ double, real, seen }: DriftFinding, hide: (text: string) => string): string[] {
  const places = seen.slice(0, maxPlaces).map(({ case: name, asked }) => `  ${asked}   [${name}]`)
  const more = seen.length - places.length
  return [
    ...places,
    ...(more > 0 ? [`  and ${plural(more, 'more response')}`] : []),
    `    double  ${normalized(double, hide)}`,
    `    real    ${normalized(real, hide)}`,
  ]
}

function list(title: string, rows: readonly LeftOut[]): string[] {
  if (rows.length === 0) return []
  return ['', `${title}:`, ...rows.map(({ name, because }) => `  ${name}: ${because}`)]
}

/**
 * Returns the exit code: 1 if there is a new difference, 2 if the comparison is incomplete or resources remain, and
 * otherwise 0.
 */
export function exitCode({ findings, broken, ended, remains, compared }: DriftReport): 0 | 1 | 2 {
  if (findings.some(({ named }) => named === undefined)) return 1
  return compared === 0 || ended !== undefined || broken.length > 0 || remains.length > 0 ? 2 : 0
}
