import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Replies of a real server by section, one raw RESP2 text per step. Waits have none. */
export type Recording = Readonly<Record<string, readonly (readonly [line: string, raw: string])[]>>

function fileOf(group: string): string {
  return new URL(`../transcripts/${group}.json`, import.meta.url).pathname
}

export function readRecording(group: string): Recording {
  return existsSync(fileOf(group)) ? JSON.parse(readFileSync(fileOf(group), 'utf8')) : {}
}

/** One step per line, so that a change of one reply is a change of one line. */
export function writeRecording(group: string, recording: Recording): void {
  const sections = Object.entries(recording).map(([title, rows]) => {
    const lines = rows.map((row) => `    ${JSON.stringify(row)}`)
    return `  ${JSON.stringify(title)}: [\n${lines.join(',\n')}\n  ]`
  })
  writeFileSync(fileOf(group), `{\n${sections.join(',\n')}\n}\n`)
}
