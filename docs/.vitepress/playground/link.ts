// A link contains code in its fragment, which browsers send to no server. The code is deflated and encoded as base64url.

const name = '#code='

/** Returns the code in a fragment, or `undefined` if there is none or it cannot be decoded. */
export async function codeOf(hash: string): Promise<string | undefined> {
  if (!hash.startsWith(name)) return undefined
  try {
    const packed = Uint8Array.from(atob(hash.slice(name.length).replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    return await new Response(through(packed, new DecompressionStream('deflate-raw'))).text()
  } catch {
    return undefined
  }
}

/** Returns the fragment that contains the code. */
export async function linkOf(code: string): Promise<string> {
  const packed = new Response(through(new TextEncoder().encode(code), new CompressionStream('deflate-raw')))
  const bytes = new Uint8Array(await packed.arrayBuffer())
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return name + text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): ReadableStream {
  return new Blob([bytes]).stream().pipeThrough(stream)
}
