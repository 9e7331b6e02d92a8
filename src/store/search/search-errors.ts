import { type Bytes, text } from '../../kernel/bytes.js'
import { ReplyError } from '../command/reply.js'

// Errors of the search engine. A text is that of the specification if the specification has one. Otherwise, the text is
// specific to this package. [search.md 12, 13]

const longest = 80

/** Shortens a name from the client, which may be long. */
export function shown(name: Bytes | string): string {
  const whole = text(name as Bytes)
  return whole.length > longest ? `${whole.slice(0, longest)}…` : whole
}

export function refusal(text: string): ReplyError {
  return new ReplyError(`ERR ${text}`)
}

/** Returns the error for an operator that does not exist. [search.md 12] */
export function unknownFieldOperator(operator: Bytes): ReplyError {
  return refusal(`Unknown field operator: ${shown(operator)}`)
}

export function unknownField(path: Bytes): ReplyError {
  return refusal(`Unknown field: ${shown(path)}`)
}

export function wrongOperator(operator: Bytes, path: Bytes, type: string): ReplyError {
  return refusal(`Operator '${shown(operator)}' is not supported for field '${shown(path)}' of type ${type}`)
}

export function wrongValue(operator: Bytes, path: Bytes, wanted: string): ReplyError {
  return refusal(`Operator '${shown(operator)}' of field '${shown(path)}' takes ${wanted}`)
}
