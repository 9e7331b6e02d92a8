// Compiled, never run: a public class declares which methods change its state, and only those are recorded.
import type { Changes, InputRecorder, MethodEffects } from '../../src/kernel/input-recorder.js'

declare class Lamp {
  readonly color: string
  light(brightness: number): void
  isLit(): boolean
  /** Called by the engine. */
  flicker(): void
}

type LampEffects = MethodEffects<Lamp, { light: 'changes'; isLit: 'reads' }, 'flicker'>
declare const recorder: InputRecorder<Changes<LampEffects>>

export const brightness: number = recorder.record('light', 3)[0]
export const call: readonly [method: string, brightness: number] = recorder.recordCall('light', [3])
// @ts-expect-error: it only reads
recorder.record('isLit')
// @ts-expect-error: there is no such method
recorder.record('lightUp', 3)

// @ts-expect-error: isLit() is not declared
export type Incomplete = MethodEffects<Lamp, { light: 'changes' }, 'flicker'>
// @ts-expect-error: flicker() is neither declared nor internal
export type Uncalled = MethodEffects<Lamp, { light: 'changes'; isLit: 'reads' }>
// @ts-expect-error: there is no such method
export type Stale = MethodEffects<Lamp, { light: 'changes'; isLit: 'reads'; lightUp: 'changes' }, 'flicker'>
// @ts-expect-error: a method reads or changes
export type Unclear = MethodEffects<Lamp, { light: 'changes'; isLit: 'perhaps' }, 'flicker'>
