import type { Dialect } from '../../../src/protocol/dialect.js'
import { SecretTexts } from '../../../src/secrets/texts.js'

const anyUrl = /\b(https?|rediss?):\/\/([^\s/"'\\<>?#]+)/gi
const anyAddress = /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g

/**
 * Removes private data from a text: tokens, hosts, addresses, and texts that look like a secret. Documentation URLs are
 * kept, because error texts contain them.
 */
export function hider(known: readonly string[], urls: readonly string[], dialect: Dialect): (text: string) => string {
  const hosts = urls.flatMap((url) => (URL.canParse(url) ? [new URL(url).host, new URL(url).hostname] : []))
  const longest = hosts.filter((host) => host !== '').sort((a, b) => b.length - a.length)
  const secrets = new SecretTexts({ secrets: known })
  return (text) => {
    let out = secrets.text(text)
    for (const host of longest) out = out.replaceAll(host, '<host>')
    return out
      .replace(anyUrl, (whole, scheme: string, host: string) =>
        dialect.docs.split('/')[0] === host || host === '<host>' || host.endsWith('.test')
          ? whole
          : `${scheme}://<host>`,
      )
      .replace(anyAddress, '<address>')
  }
}
