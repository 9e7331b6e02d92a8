/** The sandbox that the clients of a test use, or the reason why they cannot use one. */
export type ClientTarget = { readonly sandbox: object } | { readonly refusal: string }

/** Called before a change. Returns a function that is called after the change. */
type Watcher = () => () => void

interface Slot {
  /** The latest is the last one. */
  readonly entries: ClientTarget[]
  /** See `beforeSandboxChanges()`. */
  readonly watchers: Set<Watcher>
}

/** All copies of this package share the slot: a runner may load the package again for the modules of a test. */
const key: unique symbol = Symbol.for('stuntdouble.running sandbox') as never

function slot(): Slot {
  const shared = globalThis as { [key]?: Slot }
  shared[key] ??= { entries: [], watchers: new Set() }
  return shared[key]
}

/** Returns the latest sandbox that is in use, or the reason why clients cannot use one. */
export function runningSandbox(): ClientTarget | undefined {
  return slot().entries.at(-1)
}

/**
 * Makes clients without a sandbox of their own use this one, such as those of `replaceIoredis()`. Several can be in
 * use, and they can end in any order. The latest one counts.
 * @returns a function that ends the use
 */
export function useForClients(running: ClientTarget): () => void {
  const { entries } = slot()
  change([...entries, running])
  return () => change(entries.filter((entry) => entry !== running))
}

/**
 * Moves the clients that use this sandbox to the next test. Called before a sandbox is reset between tests, so that
 * clients notice no difference from a new sandbox.
 * @returns a function to call after the reset
 */
export function beforeNextTest(sandbox: object): () => void {
  return isSame(runningSandbox(), { sandbox }) ? tellWatchers() : () => {}
}

/**
 * @param before called before another sandbox is in use, and before the sandbox in use is reset for the next test.
 * Returns a function that is called afterwards
 */
export function beforeSandboxChanges(before: Watcher): void {
  slot().watchers.add(before)
}

function change(next: readonly ClientTarget[]): void {
  const { entries } = slot()
  const end = isSame(entries.at(-1), next.at(-1)) ? undefined : tellWatchers()
  entries.splice(0, entries.length, ...next)
  end?.()
}

function tellWatchers(): () => void {
  const ends = [...slot().watchers].map((before) => before())
  return () => {
    for (const end of ends) end()
  }
}

function isSame(one: ClientTarget | undefined, other: ClientTarget | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return 'sandbox' in one ? 'sandbox' in other && one.sandbox === other.sandbox : 'refusal' in other
}
