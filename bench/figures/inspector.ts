import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from '@playwright/test'
import { createSandbox } from 'stuntdouble'
import { toHtml } from 'stuntdouble/report'
import type { Figure, Variant } from '../harness.ts'

// The page of the inspector in a real browser. It measures frames over those of a bare canvas of the same size, so that
// a slow machine does not fail.

const executablePath = '/usr/bin/chromium'
const size = { width: 1400, height: 900 }
const entries = 100_000

/** Returns the page of a trace with 100,000 entries in all lanes. */
async function page(): Promise<string> {
  const sandbox = createSandbox()
  const url = 'https://shop.test/orders'
  sandbox.destinations.respond(url, ({ retried }) => (Number(retried) === 0 ? 500 : 200))
  sandbox.destinations.respond('https://shop.test/done', () => 200)
  for (let count = 0; count * 16 < entries; count++) {
    const [delay, callback] = [`${count % 3600}s`, 'https://shop.test/done'] as const
    sandbox.queue.publish({ to: url, body: { id: count }, delay, callback })
  }
  await sandbox.clock.drain()
  while (sandbox.traffic.size < entries) sandbox.store.run('SET', `key:${sandbox.traffic.size}`, 'value')
  return toHtml(sandbox.traffic)
}

/** A canvas with the size of the page's lanes. */
const bare = `<!doctype html><canvas id="axis" width="${size.width}" height="200"></canvas>`

async function opened(browser: Browser, html: string): Promise<Page> {
  const page = await browser.newPage({ viewport: size })
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-bench-'))
  const file = join(folder, 'page.html')
  writeFileSync(file, html)
  await page.goto(pathToFileURL(file).href)
  rmSync(folder, { recursive: true })
  return page
}

/** Returns the average host milliseconds of a frame with this work. */
function frames(page: Page, work: 'nothing' | 'paint' | 'scroll' | 'scrub' | 'zoom'): Promise<number> {
  return page.evaluate(
    (what) =>
      new Promise<number>((resolve) => {
        const count = 90
        const canvas = document.querySelector('canvas')!
        const list = document.getElementById('list')
        const { left, top, width } = canvas.getBoundingClientRect()
        const point = (type: string, x: number): void => {
          const init = { clientX: x, clientY: top + 5, button: 0, pointerId: 1, bubbles: true }
          canvas.dispatchEvent(new PointerEvent(type, init))
        }
        const steps: Record<string, (part: number) => void> = {
          nothing: () => {},
          paint: (part) => {
            const pen = canvas.getContext('2d')!
            pen.fillStyle = part > 0.5 ? '#fff' : '#eee'
            pen.fillRect(0, 0, canvas.width, canvas.height)
          },
          scroll: (part) => {
            list!.scrollTop = list!.scrollHeight * part
          },
          scrub: (part) => point('pointermove', left + width * part),
          zoom: (part) => {
            const init = {
              deltaY: part < 0.5 ? -1 : 1,
              ctrlKey: true,
              clientX: left + width / 2,
              bubbles: true,
              cancelable: true,
            }
            canvas.dispatchEvent(new WheelEvent('wheel', init))
          },
        }
        // A synthetic pointer cannot be captured.
        Element.prototype.setPointerCapture = () => {}
        if (what === 'scrub') point('pointerdown', left + 1)
        let done = 0
        let began = 0
        const next = (now: number): void => {
          if (done === 0) began = now
          if (done === count) {
            if (what === 'scrub') point('pointerup', left + 1)
            resolve((now - began) / count)
            return
          }
          steps[what]!(done++ / count)
          requestAnimationFrame(next)
        }
        requestAnimationFrame(next)
      }),
    work,
  )
}

async function movingThings(): Promise<Figure | undefined> {
  if (!existsSync(executablePath)) return undefined
  const browser = await launched()
  const inspector = await opened(browser, await page())
  await inspector.waitForFunction(() => document.documentElement.dataset.ready === 'true')
  const canvas = await opened(browser, bare)
  let spent = 0
  const variant = (name: string, at: Page, work: Parameters<typeof frames>[1]): Variant => ({
    name,
    async run() {
      await at.bringToFront()
      spent = await frames(at, work)
    },
  })
  return {
    name: 'a frame of the inspector with 100,000 entries, over one of a bare canvas of the same size',
    baseline: variant('a bare canvas', canvas, 'paint'),
    variants: [
      variant('scrolling the list', inspector, 'scroll'),
      variant('moving the instant', inspector, 'scrub'),
      variant('zooming', inspector, 'zoom'),
    ],
    times: 1,
    rounds: 5,
    reading: () => spent * 1000,
    atMost: { 'scrolling the list': 1.3, 'moving the instant': 1.3 },
    dispose: () => browser.close(),
  }
}

async function opening(): Promise<Figure | undefined> {
  if (!existsSync(executablePath)) return undefined
  const browser = await launched()
  const html = { few: toHtml(createSandbox().traffic), many: await page() }
  let spent = 0
  const variant = (name: string, text: string): Variant => ({
    name,
    async run() {
      const shown = await opened(browser, text)
      await shown.waitForFunction(() => document.documentElement.dataset.ready === 'true', undefined, { polling: 10 })
      // The time until the first picture with all entries.
      spent = await shown.evaluate(
        () =>
          new Promise<number>((resolve) =>
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))),
          ),
      )
      await shown.close()
    },
  })
  return {
    name: 'opening the inspector with 100,000 entries, over opening it with none',
    baseline: variant('no entries', html.few),
    variants: [variant('100,000 entries', html.many)],
    times: 1,
    rounds: 5,
    reading: () => spent * 1000,
    within: { '100,000 entries': 1_500_000 },
    dispose: () => browser.close(),
  }
}

function launched(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
}

export const figures = [opening, movingThings]
