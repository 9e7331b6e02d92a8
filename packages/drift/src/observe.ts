import { type Bytes, text } from '../../../src/kernel/bytes.js'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import type { Answered, ComparisonMode, DriftRequest, Observation } from './case.js'

// Converts a response to an observation, which can be compared.

export interface Looking {
  readonly argv?: readonly Bytes[]
  readonly loose?: readonly ComparisonMode[]
  /** Description of the request, which the report shows. Default: its command, or its method and path. */
  readonly asked?: string
}

export function observed(
  ask: DriftRequest,
  answered: Answered,
  { argv, loose = [], asked }: Looking = {},
): Observation {
  const { status, headers, body } = answered
  const encoding = encodingOf(ask)
  return {
    asked: asked ?? (argv === undefined ? `${ask.method} ${ask.path}` : shownWords(argv)),
    ...(argv !== undefined && { argv: argv.map((word) => text(word)) }),
    status,
    headers: mattering(headers),
    value: readBody(body, headers['content-type']),
    ...(encoding !== undefined && { encoding }),
    loose,
  }
}

function encodingOf({ headers = {} }: DriftRequest): 'base64' | 'resp2' | undefined {
  const values = Object.values(headers).map((value) => value.toLowerCase())
  return values.includes('base64') ? 'base64' : values.includes('resp2') ? 'resp2' : undefined
}

const compared = /^(?:content-type|location|retry-after|cache-control|access-control-.*)$/

/**
 * Returns the headers to compare. Parameters of a media type are removed. A sync token is replaced with a placeholder.
 */
function mattering(headers: Answered['headers']): Record<string, string> {
  const found = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (name === 'content-type') return [[name, value.split(';')[0]!.trim().toLowerCase()]]
    if (name === 'service-sync-token') return [[name, 'a token']]
    return compared.test(name) ? [[name, value]] : []
  })
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function readBody(body: Bytes, contentType = ''): unknown {
  if (body === '') return ''
  const plain = text(body)
  return /\bjson\b/.test(contentType) || /^[[{]/.test(plain) ? (parsedJson(plain) ?? plain) : plain
}

/** Formats the arguments of a command as a user would type them. */
export function shownWords(words: readonly Bytes[]): string {
  return words
    .map((each) => {
      const plain = text(each)
      const short = plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
      return /^[^\s"'\\\p{Cc}]+$/u.test(short) ? short : JSON.stringify(short)
    })
    .join(' ')
}
