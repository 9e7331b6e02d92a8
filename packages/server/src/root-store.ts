import { decodeSegment } from '../../../src/kernel/http.js'
import { isStoreSegment } from '../../../src/store/rest/store-endpoints.js'

// The store of tenant `main` also serves the root of the server, so that the server replaces serverless-redis-http.

/**
 * Returns the path and query that the server serves for a request: those of the store of `main` if the request is for
 * the store at the root, otherwise the same ones. The server replaces them before everything else, so that tokens,
 * origins, limits and the cluster are the same as at `/main/store`.
 */
export function servedTarget(method: string, target: string): string {
  // A client that uses this server as a proxy can send a URL without a path.
  const path = target === '' || target.startsWith('?') ? `/${target}` : target
  const [, segment] = /^\/([^/?#]*)/.exec(path) ?? []
  if (segment === undefined) return target
  const isRoot = segment === '' && path[1] !== '/'
  const isOfStore = isRoot ? sendsCommand(method) : isStoreSegment(decodeSegment(segment))
  return isOfStore ? `/main/store${path}` : target
}

/** Returns whether a request for `/` is for the store. A browser requests the page of the inspector with GET. */
function sendsCommand(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'OPTIONS'
}
