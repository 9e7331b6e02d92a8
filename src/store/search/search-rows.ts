import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { Reply } from '../command/reply.js'
import { HashValue } from '../values/hash-value.js'
import { formatJson } from '../values/json-text.js'
import type { Json, JsonObject } from '../values/json-value.js'
import type { Document } from './search-document.js'

/** Returns the row of SEARCH.QUERY for a document: pairs of name and value. [search.md 7] */
export function contentRows(document: Document, select: readonly Bytes[] | undefined, work: Work): Reply {
  if (document instanceof HashValue) {
    work.charge(document.size)
    if (select === undefined) return [...document].map(([field, value]) => [field, value])
    return select.filter((field) => document.has(field)).map((field) => [field, document.get(field)!])
  }
  if (select === undefined) return [[latin1('$'), formatJson(document, undefined, work)]]
  return select.flatMap((path) => {
    work.charge(4)
    const value = memberAt(document, path)
    return value === undefined ? [] : [[path, typeof value === 'string' ? value : formatJson(value, undefined, work)]]
  })
}

function memberAt(document: JsonObject, path: Bytes): Json | undefined {
  let found: Json | undefined = document
  for (const name of path.split('.')) found = found instanceof Map ? found.get(name as Bytes) : undefined
  return found
}
