import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { PageView } from '../view.js'
import { type Marks, marksOf, type PlacedMarks, placed } from './marks.js'
import { type Scale, type ScaleKind, scaleOf } from './scale.js'

/** Visible part of the axis. 0 is the beginning of the scale and 1 its end. */
export interface Sight {
  readonly from: number
  readonly to: number
}

const everything: Sight = { from: 0, to: 1 }
/** Minimum width of the visible part. A smaller width would exceed the precision of floating-point numbers. */
const nearest = 1e-9

/** The time axis: its marks, its scale, and the visible part. */
export class AxisState {
  readonly kind: Signal<ScaleKind> = signal('steps')
  readonly sight: Signal<Sight> = signal(everything)
  readonly marks: ReadonlySignal<Marks>
  readonly scale: ReadonlySignal<Scale>
  readonly placed: ReadonlySignal<PlacedMarks>
  /**
   * Virtual time of the sandbox, but not after the end of the axis. The axis can end later, because it shows waits that
   * end in the future.
   */
  readonly now: ReadonlySignal<number>

  constructor(readonly view: PageView) {
    const changed = computed(() => new Set(view.changes.value.map(({ seq }) => seq)))
    this.marks = computed(() => marksOf(view.entries.value, changed.value))
    this.scale = computed(() => {
      const { instants } = this.marks.value
      const isEmpty = instants.length === 0
      return scaleOf(this.kind.value, isEmpty ? Float64Array.of(view.facts.value?.now ?? 0) : instants)
    })
    this.placed = computed(() => placed(this.marks.value, this.scale.value))
    this.now = computed(() => {
      const told = Math.max(view.facts.value?.now ?? 0, view.entries.value.at(-1)?.at ?? 0)
      return Math.max(this.scale.value.first, Math.min(this.scale.value.last, told))
    })
  }

  /** Shows the sandbox at this instant. A future instant shows the present. */
  lookAt(at: number): void {
    const instant = Math.round(at)
    this.view.instant.value = instant < this.now.value ? instant : undefined
  }

  zoom(factor: number, around = 0.5): void {
    const { from, to } = this.sight.value
    const size = Math.min(1, Math.max(nearest, (to - from) * factor))
    this.#look(from + (to - from) * around - size * around, size)
  }

  /**
   * Scrolls the axis.
   * @param by distance as a fraction of the visible part. A negative value scrolls to earlier instants
   */
  pan(by: number): void {
    const { from, to } = this.sight.value
    this.#look(from + by * (to - from), to - from)
  }

  fit(): void {
    this.sight.value = everything
  }

  /** Scrolls to this instant if it is not visible. */
  show(at: number): void {
    const place = this.scale.value.place(at)
    const { from, to } = this.sight.value
    if (place < from || place > to) this.#look(place - (to - from) / 2, to - from)
  }

  /** Zooms to this range of time, plus a margin. */
  showRange(from: number, to: number): void {
    const scale = this.scale.value
    const [left, right] = [scale.place(from), scale.place(to)]
    const room = Math.max((right - left) * 0.1, 0.002)
    this.#look(left - room, right - left + 2 * room)
  }

  #look(from: number, size: number): void {
    const length = Math.min(1, size)
    const start = Math.min(1 - length, Math.max(0, from))
    this.sight.value = { from: start, to: start + length }
  }
}
