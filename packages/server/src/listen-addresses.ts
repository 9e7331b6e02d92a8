import { lookup } from 'node:dns/promises'
import { type AddressInfo, BlockList, isIPv6, type Server } from 'node:net'

export const defaultHost = 'localhost'
export const defaultPort = 4010

/** Both addresses of this machine: `localhost` is one or the other, depending on who asks. */
const loopback = ['127.0.0.1', '::1'] as const
const attempts = 10

export interface BoundServers<S extends Server> {
  readonly servers: readonly S[]
  readonly port: number
}

/**
 * Listens on an address; on `localhost` on both addresses of the machine, at one port. A machine without the second one
 * does without.
 */
export async function listenOn<S extends Server>(
  address: string,
  port: number,
  create: () => S,
): Promise<BoundServers<S>> {
  if (address !== 'localhost') {
    const server = await listening(create(), address, port)
    return { servers: [server], port: portOf(server) }
  }
  for (let left = attempts; ; left--) {
    const first = await listening(create(), loopback[0], port)
    try {
      const second = await listening(create(), loopback[1], portOf(first))
      return { servers: [first, second], port: portOf(first) }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE') return { servers: [first], port: portOf(first) }
      first.close()
      // A free port was asked for, and somebody else has this one at the other address.
      if (port !== 0 || left === 0) throw error
    }
  }
}

function listening<S extends Server>(server: S, host: string, port: number): Promise<S> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/**
 * The address that a host stands for: names, short forms (`0`, `127.1`) and brackets are resolved once, so that what is
 * listened on is what was judged. `localhost` stays, because it is two addresses; nothing is every address.
 */
export async function addressOf(host: string): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (bare === '' || bare.toLowerCase() === 'localhost') return bare.toLowerCase()
  return (await lookup(bare)).address
}

const ownAddresses = new BlockList()
ownAddresses.addSubnet('127.0.0.0', 8)
ownAddresses.addAddress('::1', 'ipv6')

/** Whether only this machine can call a server that listens there. @param address what `addressOf` gave */
export function isLoopbackAddress(address: string): boolean {
  if (address === 'localhost') return true
  // A zone says which interface is meant. Addresses of version 4 in the form of version 6 are looked up as what they are.
  const [bare = ''] = address.split('%')
  return ownAddresses.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')
}

/** Whether a server that listens there answers at every address of the machine. */
export function isEveryAddress(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::'
}
