import { shownDate, shownTime } from '../shown-dates.js'
import type { Scale } from './scale.js'

export interface Label {
  /** Left edge, in pixels. */
  readonly left: number
  readonly width: number
  /** Where its tick is. */
  readonly x: number
  readonly text: string
}

export interface Labels {
  readonly times: readonly Label[]
  /** Below them: the date of the first time, and of each that is of another day than the one before. */
  readonly dates: readonly Label[]
}

interface LabelBox {
  readonly scale: Scale
  /** What is in sight, in places of the scale. */
  readonly from: number
  readonly to: number
  readonly width: number
  /** Width of a text in pixels. */
  readonly measure: (text: string) => number
}

/** Pixels between two labels. */
const gap = 12

/** Characters of a time that may do: `09:00`, `09:00:12` or `09:00:12.000`. */
const precisions = [5, 8, 12]

/** What the axis is labelled with; no two labels of a line overlap, and none leaves it, however narrow it is. */
export function labelsOf(place: LabelBox): Labels {
  const found = precisions.map((precision) => labelled(place, precision))
  return found.find(({ isTelling }) => isTelling) ?? found.at(-1)!
}

/** @returns `isTelling` where no two times beside each other read the same */
function labelled({ scale, from, to, width, measure }: LabelBox, precision: number): Labels & { isTelling: boolean } {
  const times: Label[] = []
  const dates: Label[] = []
  const count = Math.max(1, Math.floor(width / (measure(shownTime(0).slice(0, precision)) + 3 * gap)))
  let date = ''
  let before = Number.NaN
  let isTelling = true
  // Of one instant all places read the same: it is told where it is.
  const isOne = scale.first === scale.last
  for (let step = 0; step <= (isOne ? 0 : count); step++) {
    const part = isOne ? (scale.place(scale.first) - from) / (to - from) : step / count
    const x = width * Math.min(1, Math.max(0, part))
    const at = scale.at(from + ((to - from) * step) / count)
    const time = labelAt(x, shownTime(at).slice(0, precision), width, measure)
    if (!fits(times, time, width)) continue
    const today = shownDate(at)
    // A time whose date has no room would be taken for one of the day before.
    const label = today === date ? undefined : labelAt(x, today, width, measure)
    if (label !== undefined && !fits(dates, label, width)) continue
    if (label === undefined && times.at(-1)?.text === time.text && at !== before) isTelling = false
    times.push(time)
    if (label !== undefined) dates.push(label)
    date = today
    before = at
  }
  return { times, dates, isTelling }
}

function labelAt(x: number, text: string, room: number, measure: (text: string) => number): Label {
  const width = measure(text)
  return { x, text, width, left: Math.min(Math.max(0, room - width), Math.max(0, x - width / 2)) }
}

function fits(labels: readonly Label[], { left, width }: Label, room: number): boolean {
  const before = labels.at(-1)
  return left + width <= room + 0.5 && (before === undefined || left >= before.left + before.width + gap)
}
