import fc from 'fast-check'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type CommandOptions, command } from './arbitraries.js'

/** One request to the data store, and the client that sends it. */
export interface StoreRequest {
  /** Name of the client, such as `client 1`. */
  readonly client: string
  /**
   * `command`: one command. `pipeline`: several commands, and commands of other requests may run between them.
   * `transaction`: several commands without other commands between them.
   */
  readonly form: 'command' | 'pipeline' | 'transaction'
  /** Commands of the request, each as its name and its arguments. */
  readonly commands: readonly (readonly string[])[]
}

/** Options of `arb.storeRequests()`. */
export interface StoreRequestOptions extends CommandOptions {
  /** Number of clients. Default 2. */
  readonly clients?: number
  /** Maximum number of requests of all clients together. Default 8. */
  readonly maxRequests?: number
  /** Maximum number of commands of one pipeline or transaction. Default 4. */
  readonly maxLength?: number
}

/**
 * Generates requests of several clients, in the order in which they arrive. Failures shrink to fewer requests, shorter
 * requests, and single commands.
 * @example
 * await fc.assert(
 *   fc.asyncProperty(arb.storeRequests({ clients: 2, maxRequests: 3 }), async (requests) => {
 *     await sendStoreRequests(sandbox, requests, 'concurrent')
 *   }),
 *   { numRuns: 10 },
 * )
 */
export function storeRequests(options: StoreRequestOptions = {}): fc.Arbitrary<readonly StoreRequest[]> {
  checkOptionNames('arb.storeRequests()', options, {
    clients: true,
    maxRequests: true,
    maxLength: true,
    commands: true,
    only: true,
    weight: true,
    mistakes: true,
  })
  const { clients = 2, maxRequests: max = 8, maxLength: longest = 4, ...rest } = options
  const row = command(rest)
  const turn = fc
    .tuple(
      fc.nat({ max: Math.max(0, clients - 1) }).map((index) => `client ${index + 1}`),
      fc.constantFrom('command', 'pipeline', 'transaction'),
      fc.array(row, { minLength: 1, maxLength: longest, size: 'max' }),
    )
    .map(
      ([client, form, list]): StoreRequest => ({
        client,
        form,
        commands: form === 'command' ? list.slice(0, 1) : list,
      }),
    )
  return fc.array(turn, { maxLength: max, size: 'max' })
}

const paths = { command: '', pipeline: '/pipeline', transaction: '/multi-exec' } as const

/**
 * Sends the requests over HTTP and returns their responses, in the order of the requests. `sequence`: one after the
 * other. `concurrent`: all clients at the same time, each waiting for its own responses.
 * @example
 * const [replies] = await sendStoreRequests(sandbox, [
 *   { client: 'client 1', form: 'pipeline', commands: [['SET', 'stock', '5'], ['GET', 'stock']] },
 * ])
 */
export async function sendStoreRequests(
  sandbox: Sandbox,
  turns: readonly StoreRequest[],
  how: 'sequence' | 'concurrent' = 'sequence',
): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  const send = async ([index, { form, commands }]: readonly [number, StoreRequest]): Promise<void> => {
    const answer = await sandbox.fetch(sandbox.urls.store + paths[form], {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify(form === 'command' ? commands[0] : commands),
    })
    answers[index] = await answer.json()
  }
  const numbered = [...turns.entries()]
  const clients = [...new Set(turns.map(({ client }) => client))]
  const lines =
    how === 'sequence' ? [numbered] : clients.map((name) => numbered.filter(([, { client }]) => client === name))
  await Promise.all(
    lines.map(async (line) => {
      for (const each of line) await send(each)
    }),
  )
  return answers
}
