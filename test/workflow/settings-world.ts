import type { SandboxOptions } from '../../src/index.js'
import { connectedSandbox } from '../support/sandbox.js'
import { type Echo, echoOf, type Settings, type SettingsRoute, SettingsSdk } from './settings-sdk.js'
import { app } from './world.js'

export const url = `${app}/w`
export const third = 'https://third.test/'

export interface Seen {
  readonly headers: Headers
  readonly echo: Echo
  readonly last: string
}

/** Plays a run of a route. Returns its deliveries in addition to the sandbox. */
export async function played(route: SettingsRoute, trigger: Settings = {}, options: SandboxOptions = {}) {
  const sandbox = connectedSandbox({ seed: 16, ...options })
  const sdk = new SettingsSdk(sandbox)
  const seen: Seen[] = []
  let failures = 0
  const post = sdk.serve(route, { failureFunction: () => void failures++ })
  sandbox.destinations.on(url, async (request) => {
    const { headers } = request
    const body = await request.clone().text()
    const list = body.startsWith('[') ? (JSON.parse(body) as { callType: string }[]) : []
    if (headers.get('upstash-workflow-is-failure') === null)
      seen.push({ headers, echo: echoOf(headers), last: list.at(-1)?.callType ?? '' })
    return post(request)
  })
  sandbox.destinations.respond(third, 200)
  await sdk.trigger(url, 'wfr_one', trigger)
  await sandbox.clock.drain()
  const run = sandbox.workflow.getRun('wfr_one')
  return { sandbox, sdk, seen, run, failures: () => failures, marked: seen.filter(({ echo }) => echo.hasStepConfig) }
}
