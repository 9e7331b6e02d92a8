import { axisRows, type Tone, tones } from '../entry-kinds.js'
import { type Labels, labelsOf } from './labels.js'
import { type AxisCoverage, firstLines, type PlacedMarks } from './marks.js'
import type { Scale } from './scale.js'

/** Height of the labels above the lanes, in pixels. */
export const labelHeight = 34
const lineHeight = 9
const lanePadding = 3
const leastLane = 20

const heights = axisRows.map(({ rows }) => Math.max(leastLane, rows * lineHeight + 2 * lanePadding))
/** Top edge of each lane, in pixels from the top of the canvas. */
const laneTops: readonly number[] = heights.map((_, lane) =>
  heights.slice(0, lane).reduce((sum, height) => sum + height, labelHeight),
)
export const rowHeights: readonly number[] = heights
export const pictureHeight: number = heights.reduce((sum, height) => sum + height, labelHeight)

/** Returns the line at a pointer's vertical position. */
export function lineAt(y: number): number {
  const lane = Math.max(
    0,
    laneTops.findLastIndex((top) => y >= top),
  )
  const row = Math.floor((y - laneTops[lane]! - lanePadding) / lineHeight)
  return firstLines[lane]! + Math.min(axisRows[lane]!.rows - 1, Math.max(0, row))
}

export type Colours = Readonly<Record<Tone | 'paper' | 'shade' | 'line' | 'ink' | 'quiet', string>>

/** Returns the colors of the style sheet in a format that a canvas accepts. */
export function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement('span')
  probe.hidden = true
  element.append(probe)
  const names = [...tones, 'paper', 'shade', 'line', 'ink', 'quiet'] as const
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(found) as Colours
}

interface Picture {
  readonly pen: CanvasRenderingContext2D
  readonly marks: PlacedMarks
  readonly coverage: AxisCoverage
  readonly scale: Scale
  readonly from: number
  readonly to: number
  readonly width: number
  readonly ratio: number
  readonly colours: Colours
}

/** Paints everything that does not depend on the pointer. @returns the labels, for screen readers */
export function paint(picture: Picture): Labels {
  const { pen, marks, coverage, scale, from, to, width, ratio, colours } = picture
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.fillStyle = colours.paper
  pen.fillRect(0, 0, width, pictureHeight)
  coverage.fill(marks, from, to, width)
  axisRows.forEach((_, lane) => {
    if (lane % 2 === 0) {
      pen.fillStyle = colours.shade
      pen.fillRect(0, laneTops[lane]!, width, rowHeights[lane]!)
    }
    paintLane(lane, picture)
  })
  pen.font = '11px ui-monospace, monospace'
  pen.textBaseline = 'middle'
  const labels = labelsOf({ scale, from, to, width, measure: (text) => pen.measureText(text).width })
  pen.fillStyle = colours.line
  pen.fillRect(0, labelHeight - 1, width, 1)
  for (const { x } of labels.times) pen.fillRect(Math.min(width - 1, Math.round(x)), labelHeight - 6, 1, 6)
  pen.fillStyle = colours.quiet
  for (const { left, text } of labels.times) pen.fillText(text, left, 20)
  pen.fillStyle = colours.ink
  for (const { left, text } of labels.dates) pen.fillText(text, left, 7)
  return labels
}

function paintLane(lane: number, { pen, coverage, colours }: Picture): void {
  const { rows } = axisRows[lane]!
  const free = (rowHeights[lane]! - rows * lineHeight) / 2
  for (let row = 0; row < rows; row++) {
    const middle = laneTops[lane]! + free + (row + 0.5) * lineHeight
    tones.forEach((tone, index) => {
      // Waits are thin. Failures are high, because readers who do not distinguish colors must see them too.
      const height = tone === 'wait' ? 2 : tone === 'soft' ? 3 : tone === 'bad' || tone === 'fault' ? 9 : 5
      pen.fillStyle = colours[tone]
      coverage.each(firstLines[lane]! + row, index, (left, width) => {
        pen.fillRect(left, middle - height / 2, Math.max(2, width), height)
      })
    })
  }
}
