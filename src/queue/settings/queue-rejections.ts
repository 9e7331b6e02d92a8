import type { HeaderList } from '../../kernel/http.js'
/** Error response of the queue API, sent as `{"error": "<text>"}`. */
export class QueueRejection extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
  ) {
    super(message)
  }
}

/**
 * Error responses of the queue API. If a text is quoted from a public source, its comment cites queue.md 1.13. The
 * other texts follow two patterns, which this package chose: `<thing> <id> not found` and `invalid <field>: <reason>`.
 */
export const refusals = {
  /** 401 [queue.md 1.13] */
  invalidToken: (): QueueRejection => new QueueRejection(401, 'unable to authenticate: invalid token'),
  /** 404 if the token is valid in another region, but not in this one. [queue.md 1.13] */
  otherRegion: (user: string, region: string): QueueRejection =>
    new QueueRejection(404, `user (${user}) not found in this region (${region})`),
  /** How the service words this error is not public. [queue.md 10] */
  readOnly: (status: number): QueueRejection =>
    new QueueRejection(status, 'unable to authorize: the token is read-only'),
  /** [queue.md 1.13] */
  invalidScheme: (field: string = 'destination'): QueueRejection =>
    new QueueRejection(400, `invalid ${field} url: endpoint has invalid scheme, add http:// or https://`),
  /** [queue.md 1.13] */
  loopback: (address: string): QueueRejection =>
    new QueueRejection(400, `invalid destination url: endpoint resolves to a loopback address: ${address}`),
  /** [queue.md 1.3] */
  noDestination: (): QueueRejection =>
    new QueueRejection(400, 'invalid destination: a non-empty destination must be provided'),
  invalidUrl: (field: string, reason: string): QueueRejection =>
    new QueueRejection(400, `invalid ${field} url: ${reason}`),
  /** [queue.md 1.13] */
  deduplicationColon: (): QueueRejection => new QueueRejection(400, "DeduplicationId cannot contain ':'"),
  /** This package chose the status and the form of this text; public sources leave both open. [queue.md 1.13] */
  quota: (name: string, limit: number, status: number): QueueRejection =>
    new QueueRejection(status, `quota ${name} exceeded, current limit: ${limit}`),
  /** The text is not public. [queue.md 1.5] */
  notWaiting: (id: string, status: number): QueueRejection =>
    new QueueRejection(status, `message ${id} is not waiting`),
  /** The text is not public. [queue.md 1.5] */
  stillCanceling: (): QueueRejection =>
    new QueueRejection(429, 'the bulk action did not finish within one minute and continues in the background'),
  notFound: (thing: string, id: string): QueueRejection => new QueueRejection(404, `${thing} ${id} not found`),
  invalid: (field: string, reason: string): QueueRejection => new QueueRejection(400, `invalid ${field}: ${reason}`),
  /** Public sources quote the beginning of this text: `Invalid cron expression`. */
  invalidCron: (reason: string): QueueRejection => new QueueRejection(400, `Invalid cron expression: ${reason}`),
  /** [workflow.md 1] */
  runNotFound: (id: string): QueueRejection => new QueueRejection(404, `workflowRun ${id} not found`),
  /**
   * The SDK ends the request without an error if the response has this status. How the service words this error is not public.
   * [workflow.md 5]
   */
  runOver: (id: string): QueueRejection => new QueueRejection(400, `workflowRun ${id} is not running`),
  /** [workflow.md 2.2] */
  runExists: (): QueueRejection =>
    new QueueRejection(400, 'a workflow already exists, can not initialize a new one with same id'),
  /** [workflow.md 12] */
  exceedsLimit: (): QueueRejection => new QueueRejection(429, '-1 EXCEEDS_LIMIT'),
  /** The texts of the service for exceeded rate limits are not public. [queue.md 10] */
  dailyLimit: (headers: Readonly<Record<string, string>>): QueueRejection =>
    new QueueRejection(429, 'exceeded daily rate limit', Object.entries(headers)),
  burstLimit: (headers: Readonly<Record<string, string>>): QueueRejection =>
    new QueueRejection(429, 'exceeded burst rate limit', Object.entries(headers)),
  unknownPath: (method: string, path: string): QueueRejection =>
    new QueueRejection(404, `endpoint ${method} ${path} not found`),
  wrongMethod: (method: string, path: string): QueueRejection =>
    new QueueRejection(405, `method ${method} not allowed for ${path}`),
} as const
