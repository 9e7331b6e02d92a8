import { json } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { StoreUnreachable } from './cluster-store.js'
import { NoResponse, NotTaken, nodeHeader } from './forward.js'
import { CannotOpen } from './ownership.js'
import { sentence } from './sentences.js'
import { ClusterStoreError } from './store-link.js'
import { NotOwner } from './tenant-lease.js'

// Error responses that a node sends if the tenant cannot respond.

/** Returns the response to a forwarded request for a tenant that this node does not own. */
export function elsewhere(): RawResponse {
  return json({ error: 'Another node owns this tenant.' }, 421, [[nodeHeader, 'elsewhere']])
}

/**
 * Returns the response to a forwarded request with an invalid signature.
 * @param why reason, such as `its body differs from the signed body`
 */
export function refused(why: string): RawResponse {
  const error = `The signature of this forwarded request is invalid: ${why}.`
  return json({ error }, 401, [[nodeHeader, 'refused']])
}

/**
 * Returns the response to a request if the owner of its tenant cannot be reached or could not save the request.
 * @throws every other error, because it is a bug
 */
export function unavailable(error: unknown): RawResponse {
  if (error instanceof CannotOpen) return json({ error: sentence(error.message) }, 500)
  // Redis rejected a command of this node. Either another program has written a key of the cluster, or the Redis user
  // of this node lacks permissions.
  if (error instanceof ClusterStoreError) return json({ error: sentence(`${foreign}: ${error.message}`) }, 500)
  const said = saidOf(error)
  if (said === undefined) throw error
  return json({ error: said }, 503, [['Retry-After', '1']])
}

/**
 * Returns the message for an error. The message says whether the request may have run. Returns `undefined` for a bug.
 */
function saidOf(error: unknown): string | undefined {
  if (error instanceof NoResponse)
    return `${sentence(error.message)} The request may or may not have run. Check the data of the tenant before you send the request again.`
  if (error instanceof StoreUnreachable || error instanceof NotOwner) return `${sentence(error.message)} ${nothing}`
  if (error instanceof NotTaken) {
    const why = `The node that owns the tenant does not respond, and no other node has taken the tenant over yet: ${error.message}`
    return `${sentence(why)} ${nothing}`
  }
  return undefined
}

const foreign = 'The Redis of the cluster rejects a command of this node for the keys stuntdouble:*'

const nothing = 'Nothing was done. Send the request again.'
