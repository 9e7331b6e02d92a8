import { shortened } from './items.js'
import type { Explained, SourcedRow } from './known-differences.js'

/** A package or the documents, with the version that was read and the one that was recorded. */
export interface ReadSource {
  readonly name: string
  readonly version: string
  readonly recorded: string | undefined
}

/** Longest value that a row shows. */
const maxShown = 200

/** Returns the report as text. */
export function textReport(sources: readonly ReadSource[], { rows, explained, stale }: Explained): string {
  const read = sources.map(({ name, version, recorded }) => {
    const before = recorded === undefined ? 'no record' : recorded === version ? 'as recorded' : `recorded: ${recorded}`
    return `${`${name} ${version}`.trim()} (${before})`
  })
  const count = (change: SourcedRow['change']): number => rows.filter((row) => row.change === change).length
  return [
    `Read ${read.join(', ')}.`,
    ...rows.map(rowText),
    ...stale.map(
      ({ from, change, kind, name }) => `stale known difference: ${change} ${kind} ${name} (${from})\n  delete its row`,
    ),
    `${count('new')} new, ${count('changed')} changed, ${count('gone')} gone, ${explained.length} explained, ${stale.length} stale`,
  ]
    .map(printable)
    .join('\n\n')
}

/** Replaces codes that could change what a terminal shows. The vendor's names and values can contain them. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '\uFFFD')
}

function rowText({ change, kind, name, before, after, source }: SourcedRow): string {
  const values = [
    change === 'new' || before === undefined || before === '' ? undefined : `  was: ${shortened(before, maxShown)}`,
    change === 'gone' || after === undefined || after === '' ? undefined : `  is:  ${shortened(after, maxShown)}`,
  ]
  return [`${change} ${kind}: ${name}`, ...values, `  ${source}`].filter((line) => line !== undefined).join('\n')
}

/** Returns the report as JSON. */
export function jsonReport(sources: readonly ReadSource[], result: Explained): string {
  return JSON.stringify({ sources, ...result }, null, 2)
}
