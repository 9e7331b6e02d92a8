import { type Bytes, text } from '../../../../src/kernel/bytes.js'
import { standardRedaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import type { CrashSandbox } from './crash-sandbox.js'
import type { DeliveryWork } from './crash-work.js'
import type { BodyEffect } from './run-delivery.js'

/** Counts an effect that has just happened. @returns whether the process dies after it */
export function happened(world: CrashSandbox, work: DeliveryWork, effect: () => BodyEffect): boolean {
  const { delivery, submitsNothing } = work
  if (delivery === undefined || submitsNothing) return false
  const nth = work.effects++
  if (world.isPlain) delivery.effects.push(effect())
  if (world.disturbance('between-effects', delivery.ordinal, nth) === undefined) return false
  void world.die(work)
  return true
}

/**
 * Makes methods of the data store throw after the process has died. The methods are synchronous. They cannot wait
 * forever, as an asynchronous request of a dead process does.
 */
export function guardDirectStore(world: CrashSandbox): void {
  const { works, sandbox } = world
  for (const store of sandbox.stores) {
    const run = store.run.bind(store)
    store.run = (...words) => {
      const work = works.getStore()
      if (work === undefined) return run(...words)
      if (work.dead) throw new Error('The process has died.')
      const mark = sandbox.traffic.mark()
      const reply = run(...words)
      if (happened(world, work, () => storeEffect(sandbox, mark))) throw new Error('The process has died.')
      return reply
    }
  }
}

/** Returns the write commands since `mark` as one effect. @param mark position in the traffic log */
export function storeEffect({ store, traffic }: Sandbox, mark: ReturnType<Sandbox['traffic']['mark']>): BodyEffect {
  const commands = traffic.since(mark).ofType('command')
  const { engine } = storeInternals.of(store)
  const writes = commands.filter(({ argv }) => engine.commands.find(argv)?.writes === true)
  return { what: [...new Set(writes.map(({ argv }) => commandText(argv)))].join(', '), isSeen: writes.length > 0 }
}

function commandText(argv: readonly Bytes[]): string {
  return effectText(argv.slice(0, 2).map(text).join(' '))
}

export function effectText(given: string): string {
  return excerpt(standardRedaction.text(given), 60)
}
