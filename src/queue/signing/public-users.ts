import { fromBase64, text } from '../../kernel/bytes.js'
import { parsedJson } from '../../kernel/parsed-json.js'

/** User of the queue: its token for requests, and its keys for signatures. */
export interface DevUser {
  /** Token that the user sends with requests. */
  readonly token: string
  /** Key that signs the deliveries of the user. */
  readonly current: string
  /** Key that becomes the current key at the next rotation. */
  readonly next: string
}

/**
 * The four users of the vendor's development server. They never change and are published in its documentation, so they
 * are not secrets. In development mode, the vendor's SDKs use the first user, so they work with this package, too.
 * [queue.md 13]
 */
export const devUsers: readonly [DevUser, ...DevUser[]] = [
  {
    token: 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=',
    current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
    next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs',
  },
  {
    token: 'eyJVc2VySUQiOiJ0ZXN0VXNlcjEiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9',
    current: 'sig_7GVPjvuwsfqF65iC8fSrs1dfYruM',
    next: 'sig_5NoELc3EFnZn4DVS5bDs2Nk4b7Ua',
  },
  {
    token: 'eyJVc2VySUQiOiJ0ZXN0VXNlcjIiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9',
    current: 'sig_6jWGaWRxHsw4vMSPJprXadyvrybF',
    next: 'sig_7qHbvhmahe5GwfePDiS5Lg3pi6Qx',
  },
  {
    token: 'eyJVc2VySUQiOiJ0ZXN0VXNlcjMiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9',
    current: 'sig_5T8FcSsynBjn9mMLBsXhpacRovJf',
    next: 'sig_7GFR4YaDshFcqsxWRZpRB161jguD',
  },
]

/** Default read-only token. It has the form of the vendor's tokens, but exists only in this package. */
export const defaultReadOnlyToken = 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoicmVhZE9ubHkifQ=='

/**
 * Returns the ID of the user to whom a token belongs. A token is JSON with `UserID` and `Password`, encoded as base64.
 * [queue.md 10]
 */
export function userOf(token: string): string {
  const named = parsedJson(text(fromBase64(token) ?? ('' as never))) as { readonly UserID?: unknown } | null | undefined
  return typeof named?.UserID === 'string' ? named.UserID : token
}
