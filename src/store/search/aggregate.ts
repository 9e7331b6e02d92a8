import type { Bytes } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { Reply } from '../command/reply.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { Content } from './content.js'
import { readObject } from './filter-syntax.js'
import { refusal } from './search-errors.js'

/** What aggregations are made of. */
export interface Aggregating {
  readonly content: Content
  readonly ids: readonly number[]
  readonly work: Work
  isFast(field: FieldDefinition): boolean
}

export function aggregated(source: Bytes, _over: Aggregating): Reply {
  readObject(source, 'aggregations')
  throw refusal('not yet')
}
