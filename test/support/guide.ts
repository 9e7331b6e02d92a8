import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Applies the samples of docs/contributing/add-one-thing.md as a reader would.

export interface Sample {
  /** The heading above it: what is added. */
  readonly adds: string
  readonly file: string
  /** The line after or before which it is inserted; `undefined` for a new file. */
  readonly place: { readonly where: 'after' | 'before'; readonly line: string } | undefined
  readonly code: string
}

export interface Guide {
  readonly samples: readonly Sample[]
  /** Every shell command, with the heading above it. */
  readonly commands: readonly { readonly adds: string; readonly line: string }[]
}

const fence = /^( *)```(ts|json|sh)\n([\s\S]*?)^ *```$/gm

/** @throws Error for a sample without a location */
export function readGuide(page: string): Guide {
  const samples: Sample[] = []
  const commands: Guide['commands'][number][] = []
  for (const section of page.split(/^## /m).slice(1)) {
    const adds = section.slice(0, section.indexOf('\n'))
    for (const [, indent = '', language, text = ''] of section.matchAll(fence)) {
      const lines = text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      if (language === 'sh') commands.push(...lines.filter((line) => line !== '').map((line) => ({ adds, line })))
      else samples.push(sampleOf(adds, lines))
    }
  }
  return { samples, commands }
}

function sampleOf(adds: string, [first = '', ...rest]: readonly string[]): Sample {
  const found = /^\/\/ (\S+), (?:a new file|(after|before): (.+))$/.exec(first)
  if (found === null) throw new Error(`${adds}: the first line of a sample names its place, not ${first}`)
  const [, file = '', where, line = ''] = found
  const place = where === undefined ? undefined : { where: where as 'after' | 'before', line }
  return { adds, file, place, code: rest.join('\n') }
}

/** Inserts a sample into the tree at `root`. @throws Error when its location is missing or ambiguous */
export function apply(sample: Sample, root: string): void {
  const path = join(root, sample.file)
  if (sample.place === undefined) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, sample.code, { flag: 'wx' })
    return
  }
  const { where, line } = sample.place
  const lines = readFileSync(path, 'utf8').split('\n')
  const places = lines.flatMap((one, index) => (one.startsWith(line) ? [index] : []))
  if (places.length !== 1) throw new Error(`${sample.file} has ${places.length} lines that begin with ${line}`)
  lines.splice(places[0]! + (where === 'after' ? 1 : 0), 0, sample.code.trimEnd())
  writeFileSync(path, lines.join('\n'))
}
