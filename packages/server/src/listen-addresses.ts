import { type AddressInfo, BlockList, isIPv6, type Server } from 'node:net'

export const defaultHost = 'localhost'
export const defaultPort = 4010

/** Both loopback addresses. Some clients resolve `localhost` to the first address, and others to the second one. */
const loopback = ['127.0.0.1', '::1'] as const
const attempts = 10

export interface BoundServers<S extends Server> {
  readonly servers: readonly S[]
  readonly port: number
}

/**
 * Listens on an address. `localhost` means both loopback addresses, with the same port. On a machine without IPv6 it
 * means only the IPv4 address.
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
      // Port 0 was requested, and another process uses the selected port on the second address. Try another port.
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
 * Resolves a host to an address. A host is resolved only once, so that the server checks and uses the same address. The
 * host can be a name, an address, a short form of an address (`0`, `127.1`), or an address in brackets. `localhost` is
 * returned unchanged, because it means two addresses. The empty string means every address, and is returned unchanged,
 * too.
 */
export async function addressOf(host: string): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (bare === '' || bare.toLowerCase() === 'localhost') return bare.toLowerCase()
  const { lookup } = await import('node:dns/promises')
  return (await lookup(bare)).address
}

const ownAddresses = new BlockList()
ownAddresses.addSubnet('127.0.0.0', 8)
ownAddresses.addAddress('::1', 'ipv6')

/** Returns whether only this machine can connect to the address. @param address a result of `addressOf` */
export function isLoopbackAddress(address: string): boolean {
  if (address === 'localhost') return true
  // A zone after `%` names a network interface. IPv4 addresses in IPv6 notation are checked as IPv4.
  const [bare = ''] = address.split('%')
  return ownAddresses.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')
}

/** Returns whether the address means every address of the machine. */
export function isEveryAddress(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::'
}
