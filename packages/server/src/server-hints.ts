import { onServer } from '../../../src/kernel/database-name.js'
import type { Hints } from '../../../src/kernel/hints.js'

/**
 * Returns the hints for error messages of a server. A hint names a request of the control API instead of a method,
 * because clients such as curl cannot call methods.
 * @param origin origin of the server, such as http://127.0.0.1:4010
 */
export function hintsFor(origin: string, tenant: string): Hints {
  const post = (path: string, body: object): string =>
    `POST ${origin}/_control/${tenant}${path} with ${JSON.stringify(body)}`
  const answer = (path: string, at: object): string => `register a response: ${post(path, { ...at, response: 200 })}`
  return {
    destination: (pattern) => `${capital(answer('/destinations/respond', { to: pattern }))}.`,
    reach: (pattern, host) =>
      `${capital(answer('/destinations/respond', { to: pattern }))}. Or start the server with --deliver-to ${host} to deliver to the real host.`,
    production: (host) => `To deliver to it on purpose, start the server with --deliver-to ${host}.`,
    call: (pattern) => capital(answer('/outbound/respond', { url: pattern })),
    advance: (by) => `Advance it: ${post('/clock/advance', { by })}. Or start the server with --clock auto.`,
    databases: onServer,
  }
}

function capital(sentence: string): string {
  return sentence[0]!.toUpperCase() + sentence.slice(1)
}
