import { latin1, utf8 } from '../../../../src/kernel/bytes.js'
import { HttpError, jsonText } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { inSlices } from './large.js'
import type { OperationContext } from './operation.js'

/** Items of one answer at most, so that nobody else waits long for a list. */
export const maxItems = 10_000
/** Levels of a body, because the code that walks it is recursive. */
export const deepest = 1_000
/** Steps of one script of a destination: each is checked, and kept until a delivery meets it. */
export const maxSteps = 1_000_000
/** Values of a body, of which each takes more memory than its bytes. */
export const maxControlValues = 4_194_304
/** Bytes of the bodies of its items at most. */
export const maxBytes = 67_108_864

/** Query parameters of every list. */
export const partOf = {
  limit: `items of one answer, at most ${maxItems}; a \`link\` header with \`rel="next"\` leads to the next part`,
  skip: 'items to skip',
}

interface ListOptions<T> {
  /** `messages`, for the sentence. */
  readonly of: string
  readonly view: (item: T) => unknown
  /** Bytes of an item beyond a few hundred. */
  readonly size?: (item: T) => number
}

/**
 * A list as an answer: whole where it is short, in parts where it is asked for in parts.
 * @throws HttpError with how to ask, where it is too long for one answer and no `limit` was given
 */
export async function listed<T>(
  items: readonly T[],
  { query }: OperationContext,
  { of, view, size = () => 0 }: ListOptions<T>,
): Promise<RawResponse> {
  const given = wholeNumber(query, 'limit')
  const skip = wholeNumber(query, 'skip') ?? 0
  const limit = given ?? maxItems
  if (limit < 1 || limit > maxItems) throw new HttpError(400, `limit is a number from 1 to ${maxItems}.`)
  let [end, bytes] = [skip, 0]
  // One item is always told, or a large one could never be read.
  while (end < items.length && end - skip < limit && (end === skip || bytes + size(items[end]!) <= maxBytes)) {
    bytes += size(items[end++]!)
  }
  const isWhole = end >= items.length
  if (!isWhole && given === undefined) {
    const what = `There are ${items.length - skip} ${of}${skip > 0 ? ' more' : ''}; one answer has at most ${maxItems} of them and ${maxBytes} bytes of bodies.`
    throw new HttpError(400, `${what} Ask for the first with ?limit=${end - skip}, and for the next with &skip=${end}.`)
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
  throw new HttpError(400, `${name} is a whole number${name === 'after' ? ', the `seq` of an entry' : ''}.`)
}
