import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import type { EntryBase, MessageKind, PublishedEntry, RedactedFields } from '../../kernel/traffic-log.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { Draft, Message } from '../message/message.js'

/**
 * The traffic entry of an accepted message. It only points at the message, because with many messages pending a copy
 * of every field would be most of the memory.
 */
export class Published implements PublishedEntry, EntryBase {
  static {
    loggedAsJson(Published)
  }

  seq = 0
  at = 0
  cause = 0

  constructor(
    private readonly message: Message,
    readonly deduplicated: boolean,
    private readonly draft: Draft = message,
  ) {}

  get type(): 'published' {
    return 'published'
  }

  get messageId(): string {
    return this.message.id
  }

  get kind(): MessageKind {
    return this.draft.kind
  }

  get url(): string {
    return this.draft.url
  }

  get method(): string {
    return this.draft.settings.method
  }

  get headers(): HeaderList {
    return this.draft.settings.headers
  }

  get body(): Bytes {
    return this.draft.body
  }

  get maxRetries(): number {
    return this.draft.settings.retries
  }

  get notBefore(): number {
    return this.message.notBefore
  }

  toJSON(): EntryBase & PublishedEntry {
    const { seq, at, cause, type, messageId, kind, url, method, headers, body, maxRetries, notBefore, deduplicated } =
      this
    // What is to be hidden shows in no rendering, and so not here.
    const optional = Object.entries(optionalReaders)
      .map(([name, read]) => [name, read(this.draft)] as const)
      .filter(([name, value]) => value !== undefined && name !== 'redact')
    return {
      seq,
      at,
      cause,
      type,
      messageId,
      kind,
      url,
      method,
      headers,
      body,
      maxRetries,
      notBefore,
      deduplicated,
      ...Object.fromEntries(optional),
    }
  }
}

type Optional =
  | 'urlGroup'
  | 'endpointName'
  | 'queue'
  | 'scheduleId'
  | 'flowControlKey'
  | 'labels'
  | 'callback'
  | 'failureCallback'
  | 'retryDelay'
  | 'deduplicationId'
  | 'contentBasedDeduplication'
  | 'sourceMessageId'
  | 'redact'

/** The optional fields read through as well; declared apart, because an accessor may be undefined and a field not. */
const optionalReaders: { readonly [Name in Optional]: (draft: Draft) => PublishedEntry[Name] } = {
  urlGroup: (draft) => draft.origin.urlGroup,
  endpointName: (draft) => draft.origin.endpointName,
  queue: (draft) => draft.settings.queue,
  scheduleId: (draft) => draft.origin.scheduleId,
  flowControlKey: (draft) => draft.settings.flowControl?.key,
  labels: (draft) => draft.settings.labels,
  callback: (draft) => draft.settings.callback?.url,
  failureCallback: (draft) => draft.settings.failureCallback?.url,
  retryDelay: (draft) => draft.settings.retryDelay?.text,
  deduplicationId: (draft) => draft.settings.deduplicationId,
  contentBasedDeduplication: (draft) => draft.settings.contentBasedDeduplication || undefined,
  sourceMessageId: (draft) => draft.source?.id,
  redact: hiddenFields,
}
for (const [name, read] of Object.entries(optionalReaders)) {
  Object.defineProperty(Published.prototype, name, {
    get(this: { draft: Draft }) {
      return read(this.draft)
    },
  })
}

/**
 * What the publisher asked to hide, for a message of a run whoever began it. A callback tells about its source, so what
 * is hidden there is hidden here.
 */
export function hiddenFields({
  settings,
  source,
  part,
}: Pick<Draft, 'settings' | 'source' | 'part'>): RedactedFields | undefined {
  return (
    settings.redact ??
    part?.redact ??
    (source?.settings.redact && { body: true, allHeaders: false, headers: new Set() })
  )
}
