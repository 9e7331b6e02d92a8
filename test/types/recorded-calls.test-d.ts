// Compiled, never run: a public class says of each method whether it changes something, and only those are recorded.
import type { Changes, Effects, InputRecorder } from '../../src/kernel/input-recorder.js'

declare class Lamp {
  readonly color: string
  light(brightness: number): void
  isLit(): boolean
  /** Called by the engine. */
  flicker(): void
}

type LampEffects = Effects<Lamp, { light: 'changes'; isLit: 'reads' }, 'flicker'>
declare const recorder: InputRecorder<Changes<LampEffects>>

export const brightness: number = recorder.record('light', 3)[0]
export const call: readonly [method: string, brightness: number] = recorder.recordCall('light', [3])
// @ts-expect-error: it only reads
recorder.record('isLit')
// @ts-expect-error: there is no such method
recorder.record('lightUp', 3)

// @ts-expect-error: nothing is said of isLit()
export type Incomplete = Effects<Lamp, { light: 'changes' }, 'flicker'>
// @ts-expect-error: nothing is said of flicker(), which is not said to be the engine's
export type Uncalled = Effects<Lamp, { light: 'changes'; isLit: 'reads' }>
// @ts-expect-error: there is no such method
export type Stale = Effects<Lamp, { light: 'changes'; isLit: 'reads'; lightUp: 'changes' }, 'flicker'>
// @ts-expect-error: a method reads or changes
export type Unclear = Effects<Lamp, { light: 'changes'; isLit: 'perhaps' }, 'flicker'>
