import { json } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { StoreUnreachable } from './cluster-store.js'
import { NoResponse, NotTaken, nodeHeader } from './forward.js'
import { CannotOpen } from './ownership.js'
import { sentence } from './sentences.js'
import { ClusterStoreError } from './store-link.js'
import { NotOwner } from './tenant-lease.js'

// Responses of a node instead of those of a tenant.

/** Responds to a node that took this one for the owner. */
export function elsewhere(): RawResponse {
  return json({ error: 'Another node owns this tenant.' }, 421, [[nodeHeader, 'elsewhere']])
}

/** Responds to a request with an invalid signature of a node. */
export function refused(why: string): RawResponse {
  const error = `The signature of this forwarded request is invalid: ${why}.`
  return json({ error }, 401, [[nodeHeader, 'refused']])
}

/** Responds if the owner cannot be reached or could not save a request. @throws every other error, which is a bug */
export function unavailable(error: unknown): RawResponse {
  if (error instanceof CannotOpen) return json({ error: sentence(error.message) }, 500)
  // The Redis rejected a command: another program has written a key of the cluster, or the user has too few
  // permissions.
  if (error instanceof ClusterStoreError) return json({ error: sentence(`${foreign}: ${error.message}`) }, 500)
  const said = saidOf(error)
  if (said === undefined) throw error
  return json({ error: said }, 503, [['Retry-After', '1']])
}

/** Returns the message for an error. It ends with whether the request may have run. */
function saidOf(error: unknown): string | undefined {
  if (error instanceof NoResponse)
    return `${sentence(error.message)} The request may or may not have run. Check before you send it again.`
  if (error instanceof StoreUnreachable || error instanceof NotOwner) return `${sentence(error.message)} ${nothing}`
  if (error instanceof NotTaken) {
    const why = `The node that owns the tenant does not respond, and no other node has taken the tenant over yet: ${error.message}`
    return `${sentence(why)} ${nothing}`
  }
  return undefined
}

const foreign = 'The Redis of the cluster rejects a command of this node on its keys (stuntdouble:*)'

const nothing = 'Nothing was done. Send the request again.'
