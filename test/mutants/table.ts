// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are places in sources

/** A mistake that is built into the engine of one test: `find` stands in the file exactly once. */
export interface Mutant {
  /** The invariant that must catch it. */
  readonly invariant: string
  readonly what: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

const of = (
  invariant: string,
  file: string,
  rows: readonly (readonly [what: string, find: string, replace: string])[],
): readonly Mutant[] => rows.map(([what, find, replace]) => ({ invariant, what, file: `src/${file}`, find, replace }))

export const mutants: readonly Mutant[] = [
  ...of('no-lost-message', 'queue/delivery/courier.ts', [
    [
      'a retry is never planned',
      'else if (attempt.next !== undefined) this.#plan(message, now + attempt.next.delay)',
      '',
    ],
    [
      'a callback that fails is no dead letter',
      "if (message.state !== 'FAILED') return\n    const letter",
      "if (message.state !== 'FAILED' || message.kind !== 'message') return\n    const letter",
    ],
    [
      'a message that is let in is forgotten when its queue was paused meanwhile',
      'message.lane.parked.push(message)',
      'message.lane.holding.add(message)',
    ],
  ]),
  ...of('no-lost-message', 'queue/delivery/flow-control.ts', [
    [
      'one that waits for the total of the plan is never started',
      'this.inFlight++\n      this.#admitted(ticket.message, this.#clock.now())\n      this.#start(ticket.message)',
      'this.inFlight++',
    ],
  ]),
  ...of('no-attempt-after-success', 'queue/delivery/courier.ts', [
    [
      'a delivered message is delivered again',
      "attempt.end(now, reply, 'DELIVERED', undefined)",
      "attempt.end(now, reply, 'DELIVERED', undefined); if (message.retried === 0) { message.retried++; this.#plan(message, now + 1000) }",
    ],
    [
      'a message is released while an attempt runs',
      'if (message.timer === undefined || message.admitted) return\n    message.timer.cancel()',
      'if (message.ended || message.admitted) return\n    message.timer?.cancel()',
    ],
  ]),
  ...of('no-attempt-left-running', 'queue/delivery/in-flight.ts', [
    [
      'what a failing destination answers is not heard',
      'the alarm is set.\n      call.end(reply)',
      'the alarm is set.\n      if (reply.status < 500) call.end(reply)',
    ],
  ]),
  ...of('attempts-within-retries', 'queue/delivery/courier.ts', [
    ['one retry too many', 'message.retried >= message.maxRetries', 'message.retried > message.maxRetries'],
    [
      'given up at a status that may pass',
      'const hopeless = status === 489',
      'const hopeless = status === 404 || status === 489',
    ],
    ['a retry counts twice', 'message.retried++\n    message.wait', 'message.retried += 2\n    message.wait'],
  ]),
  ...of('backoff-within-bounds', 'queue/delivery/retry.ts', [
    [
      'the first wait of the back-off is the zeroth',
      'const delay = defaultBackoff(retried + 1, policy)',
      'const delay = defaultBackoff(retried, policy)',
    ],
    [
      'Retry-After does not win over the expression',
      '(expression === undefined || policy.retryHeadersOverrideExpression)',
      'expression === undefined',
    ],
    [
      'only the last part of a duration counts',
      'sum += Number(count) * goUnits[unit!]!',
      'sum = Number(count) * goUnits[unit!]!',
    ],
    ['an expression counts from one', 'expression.evaluate(retried)', 'expression.evaluate(retried + 1)'],
  ]),
  ...of('backoff-within-bounds', 'queue/delivery/courier.ts', [
    [
      'a delayed message starts at once',
      'this.#plan(message, notBefore)\n    else',
      'this.#plan(message, now)\n    else',
    ],
  ]),
  ...of('callback-per-attempt', 'queue/delivery/courier.ts', [
    [
      'only the last attempt is reported',
      'if (callback !== undefined && !message.cancelRequested) this',
      'if (callback !== undefined && !message.cancelRequested && attempt.next === undefined) this',
    ],
    [
      'a cancelled message is reported',
      'if (callback !== undefined && !message.cancelRequested) this',
      'if (callback !== undefined) this',
    ],
  ]),
  ...of('failure-callback-per-dead-letter', 'queue/delivery/courier.ts', [
    [
      'none after a broken connection',
      'if (failureCallback === undefined || message.cancelRequested) return',
      'if (failureCallback === undefined || message.cancelRequested || reply.status === 0) return',
    ],
    [
      'two of them',
      'this.accept(callbackDraft({ ...reported, dlqId: letter.id }, failureCallback, policy))',
      'for (const _ of [1, 2]) this.accept(callbackDraft({ ...reported, dlqId: letter.id }, failureCallback, policy))',
    ],
  ]),
  ...of('fifo-per-queue', 'queue/message/lane.ts', [
    ['one place too many', 'this.holding.size >= this.parallelism', 'this.holding.size > this.parallelism'],
    [
      'a paused queue that goes on forgets who holds a place',
      'this.paused ? [] : this.parked.splice(0)',
      '(this.holding.clear(), this.paused) ? [] : this.parked.splice(0)',
    ],
  ]),
  ...of('fifo-per-queue', 'queue/delivery/courier.ts', [
    [
      'callbacks are not waited for',
      'if (!message.ended || message.openCallbacks > 0) return',
      'if (!message.ended) return',
    ],
    [
      'delayed messages lose their place',
      'this.#plan(message, Math.max(now, message.notBefore))',
      'this.#plan(message, Math.max(now, message.notBefore)); if (message.notBefore > now) lane.holding.delete(message)',
    ],
  ]),
  ...of('parallelism-bound', 'queue/delivery/flow-control.ts', [
    [
      'one call too many for a key',
      'this.parallelismCount < this.parallelismMax',
      'this.parallelismCount <= this.parallelismMax',
    ],
    ['one call too many for the plan', 'this.inFlight >= this.#globalMax', 'this.inFlight > this.#globalMax'],
  ]),
  ...of('rate-bound', 'queue/delivery/flow-control.ts', [
    ['one call too many', 'this.rateCount < this.rateMax', 'this.rateCount <= this.rateMax'],
    ['periods are half as long', 'this.ratePeriod * 1000', 'this.ratePeriod * 500'],
    [
      'a longer period revives one that is over',
      'if (this.#clock.now() >= key.periodEnd()) key.ratePeriodStart = undefined',
      '',
    ],
  ]),
  ...of('deduplicated-within-window', 'queue/publish/deduplication.ts', [
    ['half the window', 'until: now + this.#window', 'until: now + this.#window / 2'],
    ['nothing is forgotten', 'if (until > now) return', 'if (until > 0) return'],
  ]),
  ...of('deduplicated-within-window', 'queue/publisher.ts', [
    ['bodies are not looked at', "${headers.join('')}\\n`) + body)", "${headers.join('')}\\n`))"],
  ]),
  ...of('schedule-on-time', 'queue/schedules/schedules.ts', [
    ['every other time is left out', 'Math.max(at, now))', 'Math.max(at, now) + 60_000)'],
    ['a pause does not stop it', 'if (!schedule.paused) this.#trigger', 'this.#trigger'],
    ['a second late', 'clock.schedule(next, `', 'clock.schedule(next + 1000, `'],
    ['a deleted one goes on', 'schedule.timer?.cancel()\n    this.#schedules.delete(id)', 'this.#schedules.delete(id)'],
  ]),
  ...of('schedule-on-time', 'queue/publisher.ts', [
    [
      'only the first endpoint of a group, twice',
      'return endpoints.map(({ url, name }) => {',
      'return endpoints.map(() => { const { url, name } = endpoints[0]!;',
    ],
  ]),
  ...of('store-linearizable', 'store/keyspace/database.ts', [
    [
      'a key lives a second longer',
      'expiresAt !== undefined && expiresAt <= now',
      'expiresAt !== undefined && expiresAt + 1000 <= now',
    ],
  ]),
  ...of('store-linearizable', 'store/commands/string.ts', [
    [
      'SET keeps the deadline',
      "(xx === true)) return reply\n  setString(db, key, value, at, keepttl ? 'keep' : 'drop')",
      "(xx === true)) return reply\n  setString(db, key, value, at, 'keep')",
    ],
    [
      'a second increment is lost',
      '({ db }, key) => increase(db, key, 1)',
      "({ db }, key) => (db.string(key) === '1' ? increase(db, key, 0) : increase(db, key, 1))",
    ],
  ]),
  ...of('store-linearizable', 'store/rest/endpoints.ts', [
    [
      'a command of another client comes between those of a transaction',
      "front.execute(argv, call.user, 'transaction', call, sizes[at]!), room",
      "(front.journal.execute(['GET', 'x'], call.user, 'request'), front.execute(argv, call.user, 'transaction', call, sizes[at]!)), room",
    ],
  ]),
  ...of('signatures-verify', 'queue/delivery/courier.ts', [
    [
      'signed with the next key',
      'new Attempt(message, keys.current, writer)',
      'new Attempt(message, keys.next, writer)',
    ],
  ]),
  ...of('signatures-verify', 'queue/signing/signing.ts', [
    ['signed for another url', 'sub: url,', "sub: url + '/',"],
    ['signed for an empty body', 'body: bodyHash(body),', "body: bodyHash('' as Bytes),"],
    ['a rotation does not change the key in force', 'this.#current = this.#next\n', 'this.#former[0] = this.#next\n'],
  ]),
]
