import { shownDate, shownTime } from '../shown-dates.js'
import type { Scale } from './scale.js'

export interface Label {
  /** Left edge in pixels. */
  readonly left: number
  readonly width: number
  /** Position of the tick that the label belongs to. */
  readonly x: number
  readonly text: string
}

export interface Labels {
  readonly times: readonly Label[]
  /**
   * Dates, in a line below the times. The first time has a date, and so has each time whose day differs from the day of
   * the previous time.
   */
  readonly dates: readonly Label[]
}

interface LabelBox {
  readonly scale: Scale
  /** Beginning of the visible part. 0 is the beginning of the scale and 1 its end. */
  readonly from: number
  readonly to: number
  readonly width: number
  /** Returns the width of a text, in pixels. */
  readonly measure: (text: string) => number
}

/** Minimum distance of two labels, in pixels. */
const gap = 12

/** Possible lengths of a time, in characters: `09:00`, `09:00:12` and `09:00:12.000`. */
const precisions = [5, 8, 12]

/**
 * Returns the labels of the axis. At any width, labels in one line do not overlap and do not extend beyond the axis.
 */
export function labelsOf(place: LabelBox): Labels {
  const found = precisions.map((precision) => labeled(place, precision))
  return found.find(({ isTelling }) => isTelling) ?? found.at(-1)!
}

/**
 * Returns labels whose times have this many characters.
 * @returns `isTelling`: whether adjacent times always have different texts
 */
function labeled({ scale, from, to, width, measure }: LabelBox, precision: number): Labels & { isTelling: boolean } {
  const times: Label[] = []
  const dates: Label[] = []
  const count = Math.max(1, Math.floor(width / (measure(shownTime(0).slice(0, precision)) + 3 * gap)))
  let date = ''
  let before = Number.NaN
  let isTelling = true
  // If the axis has only one instant, label only its position. All other positions would get the same time.
  const isOne = scale.first === scale.last
  for (let step = 0; step <= (isOne ? 0 : count); step++) {
    const part = isOne ? (scale.place(scale.first) - from) / (to - from) : step / count
    const x = width * Math.min(1, Math.max(0, part))
    const at = scale.at(from + ((to - from) * step) / count)
    const time = labelAt(x, shownTime(at).slice(0, precision), width, measure)
    if (!fits(times, time, width)) continue
    const today = shownDate(at)
    // A time on a new day needs a date. If the date does not fit, omit the time too.
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
