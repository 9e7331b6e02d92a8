import { latin1, utf8 } from '../../../../src/kernel/bytes.js'
import { HttpError, jsonText } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import type { BulkAction } from '../../../../src/queue/bulk-actions.js'
import { inSlices } from './large.js'
import type { OperationContext } from './operation.js'

/** Maximum number of items in one response, so that a long list does not delay other requests. */
export const maxItems = 10_000
/** Maximum nesting depth of a request body. The code that reads a body is recursive. */
export const deepest = 1_000
/**
 * Maximum steps in one script of a destination. Each step is checked immediately, and stored until a delivery uses it.
 */
export const maxSteps = 1_000_000
/** Maximum number of JSON values in a request body. In memory, each value takes more bytes than in the body. */
export const maxControlValues = 4_194_304
/** Maximum bytes of the bodies of all items in one response. */
export const maxBytes = 67_108_864

/** Query parameters of every list. */
export const partOf = {
  limit: `maximum number of items, at most ${maxItems}; a \`link\` header with \`rel="next"\` points to the next page`,
  skip: 'number of items to skip',
}

interface ListOptions<T> {
  /** Plural noun for error messages, such as `messages`. */
  readonly of: string
  readonly view: (item: T) => unknown
  /**
   * Returns the length of an item's bodies in bytes. All other fields of an item have only a few hundred bytes
   * together.
   */
  readonly size?: (item: T) => number
}

/** Options for lists of bulk actions. */
export const bulkActionList: ListOptions<BulkAction> = {
  of: 'bulk actions',
  view: (action) => action.toJSON(),
  size: ({ filter }) => JSON.stringify(filter).length,
}

/**
 * Returns the response for a list: the requested page, or the whole list if it is short enough.
 * @throws HttpError if the list is too long for one response and no `limit` was given
 */
export async function listed<T>(
  items: readonly T[],
  { query }: OperationContext,
  { of, view, size = () => 0 }: ListOptions<T>,
): Promise<RawResponse> {
  const given = wholeNumber(query, 'limit')
  const skip = wholeNumber(query, 'skip') ?? 0
  const limit = given ?? maxItems
  if (limit < 1 || limit > maxItems) throw new HttpError(400, `limit must be a number from 1 to ${maxItems}.`)
  let [end, bytes] = [skip, 0]
  // Always return at least one item. Otherwise a very large item could never be read.
  while (end < items.length && end - skip < limit && (end === skip || bytes + size(items[end]!) <= maxBytes)) {
    bytes += size(items[end++]!)
  }
  const isWhole = end >= items.length
  if (!isWhole && given === undefined) {
    const what = `There are ${items.length - skip} ${of}${skip > 0 ? ' more' : ''}, and one response has at most ${maxItems} of them and ${maxBytes} bytes of bodies.`
    throw new HttpError(
      400,
      `${what} Request the first page with ?limit=${end - skip}, and the next with &skip=${end}.`,
    )
  }
  const next = new URLSearchParams(query)
  next.set('skip', String(end))
  const told = await inSlices(items.slice(skip, end), size, (item) => utf8(JSON.stringify(view(item))))
  return jsonText(latin1(`[${told.join(',')}]`), 200, isWhole ? [] : [['link', `<?${next}>; rel="next"`]])
}

export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new HttpError(400, `${name} must be a whole number${name === 'after' ? ', the `seq` of an entry' : ''}.`)
}
