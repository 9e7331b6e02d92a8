import { test as base, expect, type Page } from '@playwright/test'

/** Runs each test in a browser that fails the test for requests to other hosts, page errors and failed responses. */
export const test = base.extend<{ strict: undefined }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern
  baseURL: async ({}, use) => use(process.env.SITE_ORIGIN!),
  strict: [
    async ({ context, baseURL }, use) => {
      const foreign: string[] = []
      const complaints: string[] = []
      const watch = (page: Page): void => {
        page.on('pageerror', ({ message }) => complaints.push(message))
        page.on('websocket', (socket) => foreign.push(socket.url()))
      }
      context.on('page', watch)
      context.on('request', (request) => {
        if (!/^(?:data|blob|about):/.test(request.url()) && !request.url().startsWith(`${baseURL}/`)) {
          foreign.push(request.url())
        }
      })
      // A request that the content security policy blocks was never sent. Only the frame of the playground has such a
      // policy.
      context.on('requestfailed', (request) => {
        const place = foreign.indexOf(request.url())
        if (request.failure()?.errorText === 'csp' && place >= 0) foreign.splice(place, 1)
      })
      context.on('response', (response) => {
        if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
      })
      await use(undefined)
      expect(foreign).toEqual([])
      expect(complaints).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** Opens a page and waits until it reacts to input. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForFunction(() => {
    const { __vue_app__: app } = (document.querySelector('#app') ?? {}) as { __vue_app__?: object }
    const playground = document.querySelector<HTMLElement>('.playground')
    // The playground reacts once it has decoded its link.
    return app !== undefined && (playground === null || playground.dataset.decoded === location.hash)
  })
}
