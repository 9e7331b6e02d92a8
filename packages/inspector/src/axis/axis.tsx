import { useSignalEffect } from '@preact/signals'
import type { HTMLAttributes, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { axisRows } from '../entry-kinds.js'
import { shownDate, shownFrom, shownTime } from '../shown-dates.js'
import type { PageView } from '../view.js'
import type { AxisState } from './axis-state.js'
import { LaneNames } from './lane-names.js'
import { AxisCoverage, nearestMark } from './marks.js'
import { type Colours, coloursOf, labelHeight, lineAt, paint, pictureHeight, rowHeights } from './paint.js'
import { Scrubber } from './scrubber.js'

interface AxisProps {
  readonly view: PageView
  readonly axis: AxisState
}

/** Shows the entries over time in four lanes, with the current instant and the selected range. */
export function Axis({ view, axis }: AxisProps): JSX.Element {
  return (
    <section class="axis" aria-labelledby="axis-title">
      <AxisTools view={view} axis={axis} />
      <div class="axis-body">
        <LaneNames view={view} heights={rowHeights} top={labelHeight} />
        <AxisPicture view={view} axis={axis} />
      </div>
    </section>
  )
}

function AxisTools({ view, axis }: AxisProps): JSX.Element {
  const { from, to } = axis.sight.value
  const scale = axis.scale.value
  const [first, last] = [scale.at(from), scale.at(to)]
  const range = view.range.value
  return (
    <div class="tools">
      <h2 id="axis-title">Time axis</h2>
      <button type="button" onClick={() => axis.zoom(0.5)}>
        Zoom in
      </button>
      <button type="button" onClick={() => axis.zoom(2)}>
        Zoom out
      </button>
      <button type="button" onClick={() => axis.pan(-0.25)}>
        Earlier
      </button>
      <button type="button" onClick={() => axis.pan(0.25)}>
        Later
      </button>
      <button type="button" onClick={() => axis.fit()}>
        Everything
      </button>
      <label>
        Scale{' '}
        <select
          value={axis.kind.value}
          onChange={({ currentTarget }) => {
            axis.kind.value = currentTarget.value as 'steps' | 'time'
            axis.fit()
          }}
        >
          <option value="steps">one step per instant</option>
          <option value="time">proportional to time</option>
        </select>
      </label>
      <output id="span" aria-live="polite">
        {view.entries.value.length === 0
          ? 'nothing yet'
          : `${shownDate(first)} ${shownTime(first)} to ${shownFrom(last, first)}`}
      </output>
      {range !== undefined && (
        <span class="chosen-range">
          Range {shownTime(range.from)} to {shownFrom(range.to, range.from)}{' '}
          <button type="button" onClick={() => axis.showRange(range.from, range.to)}>
            Zoom to it
          </button>{' '}
          <button
            type="button"
            onClick={() => {
              view.range.value = undefined
            }}
          >
            Clear range
          </button>
        </span>
      )}
    </div>
  )
}

function AxisPicture({ view, axis }: AxisProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(box)
  usePainting({ view, axis, box, canvas, width })
  const pointer = usePointer({ view, axis, width })
  return (
    <div class="axis-picture" ref={box} style={{ height: `${pictureHeight}px` }} {...pointer}>
      <canvas
        ref={canvas}
        id="axis"
        role="img"
        aria-label={`${axisRows.length} lanes over time; the list of lanes has the same content as text.`}
      />
      <Overlay view={view} axis={axis} width={width} />
      <Scrubber view={view} axis={axis} width={width} />
    </div>
  )
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [box])
  return width
}

interface Painting extends AxisProps {
  readonly box: { readonly current: HTMLElement | null }
  readonly canvas: { readonly current: HTMLCanvasElement | null }
  readonly width: number
}

/** Paints when something has changed, at most once per frame. */
function usePainting({ view, axis, box, canvas, width }: Painting): void {
  const coverage = useMemo(() => new AxisCoverage(), [])
  const latest = useRef({ width, colours: undefined as Colours | undefined, frame: 0 })
  latest.current.width = width
  const ask = useMemo(
    () => (): void => {
      const state = latest.current
      if (state.frame !== 0) return
      state.frame = requestAnimationFrame(() => {
        state.frame = 0
        if (canvas.current === null || state.width === 0) return
        state.colours ??= coloursOf(box.current!)
        const ratio = devicePixelRatio || 1
        sized(canvas.current, state.width, ratio)
        const { from, to } = axis.sight.peek()
        paint({
          pen: canvas.current.getContext('2d', { alpha: false })!,
          marks: axis.placed.peek(),
          scale: axis.scale.peek(),
          coverage,
          from,
          to,
          width: state.width,
          ratio,
          colours: state.colours,
        })
      })
    },
    [axis, box, canvas, coverage],
  )
  useSignalEffect(() => {
    axis.placed.value
    axis.sight.value
    ask()
  })
  useSignalEffect(() => {
    view.theme.value
    latest.current.colours = undefined
    ask()
  })
  useEffect(() => {
    const forget = (): void => {
      latest.current.colours = undefined
      ask()
    }
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', forget)
    return () => dark.removeEventListener('change', forget)
  }, [ask])
  useEffect(ask, [width, ask])
}

function sized(canvas: HTMLCanvasElement, width: number, ratio: number): void {
  const [wide, high] = [Math.round(width * ratio), Math.round(pictureHeight * ratio)]
  if (canvas.width === wide && canvas.height === high) return
  canvas.width = wide
  canvas.height = high
  canvas.style.width = `${width}px`
  canvas.style.height = `${pictureHeight}px`
}

/**
 * Shows the selection as elements above the canvas. When the selection changes, the canvas need not be painted again.
 */
function Overlay({ view, axis, width }: AxisProps & { readonly width: number }): JSX.Element {
  const { from, to } = axis.sight.value
  const scale = axis.scale.value
  const x = (at: number): number => ((scale.place(at) - from) / (to - from)) * width
  /** Keeps the line of the last instant visible. Without this limit, it would be drawn just right of the canvas. */
  const line = (at: number): number => (x(at) > width ? x(at) : Math.min(x(at), width - 2))
  const range = view.range.value
  const selected = view.entry(view.selectedSeq.value)
  return (
    <div class="axis-overlay" aria-hidden="true">
      {range !== undefined && (
        <div
          class="axis-range"
          style={{
            transform: `translateX(${x(range.from)}px)`,
            width: `${Math.max(2, x(range.to) - x(range.from))}px`,
          }}
        />
      )}
      {selected !== undefined && (
        <div class="axis-selected" style={{ transform: `translateX(${line(selected.at)}px)` }} />
      )}
    </div>
  )
}

/** If the pointer moves more than this many pixels, it is a drag and not a click. */
const still = 4

/**
 * Handles the pointer. Above the lanes, it sets the instant. In the lanes, a click selects an entry, and a drag selects
 * a range.
 */
function usePointer({ view, axis, width }: AxisProps & { readonly width: number }): HTMLAttributes<HTMLDivElement> {
  const drag = useRef<{ x: number; isTime: boolean; hasMoved: boolean } | undefined>(undefined)
  const at = (x: number): number => {
    const { from, to } = axis.sight.peek()
    return axis.scale.peek().at(from + (Math.min(width, Math.max(0, x)) / width) * (to - from))
  }
  const placeOf = (event: PointerEvent): { x: number; y: number } => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      const { x, y } = placeOf(event)
      const isTime = y < labelHeight || (event.target as HTMLElement).closest('[role=slider]') !== null
      drag.current = { x, isTime, hasMoved: false }
      ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
      if (isTime) axis.lookAt(at(x))
    },
    onPointerMove(event: PointerEvent) {
      const state = drag.current
      if (state === undefined) return
      const { x } = placeOf(event)
      if (Math.abs(x - state.x) >= still) state.hasMoved = true
      if (state.isTime) axis.lookAt(at(x))
      else if (state.hasMoved) view.range.value = { from: at(Math.min(x, state.x)), to: at(Math.max(x, state.x)) }
    },
    onPointerUp(event: PointerEvent) {
      const state = drag.current
      drag.current = undefined
      if (state === undefined || state.isTime || state.hasMoved) return
      const { x, y } = placeOf(event)
      const { from, to } = axis.sight.peek()
      const found = nearestMark(axis.placed.peek(), { x, line: lineAt(y), from, to, width, reach: 24 })
      if (found !== undefined) view.selectedSeq.value = view.entries.peek()[found]!.seq
    },
    onPointerCancel() {
      drag.current = undefined
    },
    onWheel(event: WheelEvent) {
      const sideways =
        Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0
      if (!event.ctrlKey && !event.altKey && sideways === 0) return
      event.preventDefault()
      const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect()
      if (sideways !== 0) axis.pan(sideways / width)
      else axis.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (event.clientX - left) / width)))
    },
  }
}
