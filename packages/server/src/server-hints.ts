import type { Hints } from '../../../src/kernel/hints.js'

/**
 * What a client of the server can do, as the request to send: curl and Python have no `destinations.on()`.
 * @param origin of the server: http://127.0.0.1:4010
 */
export function hintsFor(origin: string, tenant: string): Hints {
  const post = (path: string, body: object): string =>
    `POST ${origin}/_control/${tenant}${path} with ${JSON.stringify(body)}`
  const answer = (path: string, at: object): string => `say what it answers: ${post(path, { ...at, response: 200 })}`
  return {
    destination: (pattern) => `${capital(answer('/destinations/respond', { to: pattern }))}.`,
    reach: (pattern, host) =>
      `${capital(answer('/destinations/respond', { to: pattern }))}; or let it leave: start the server with --deliver-to ${host}.`,
    production: (host) => `If you mean it, start the server with --deliver-to ${host}.`,
    call: (pattern) => capital(answer('/outbound/respond', { url: pattern })),
    advance: (by) => `Move it: ${post('/clock/advance', { by })}; or start the server with --clock auto.`,
  }
}

function capital(sentence: string): string {
  return sentence[0]!.toUpperCase() + sentence.slice(1)
}
