// Only runtimes with sockets import this file.
import { connect } from 'node:net'
import type { Sandbox } from 'stuntdouble'
import { openRedisSocket } from 'stuntdouble/redis'

/** Sends bytes over the Redis protocol and returns the replies, until there are as many lines as `lines`. */
export async function redisConversation(sandbox: Sandbox, request: string, lines = 2): Promise<string> {
  const { path } = await openRedisSocket(sandbox)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(path, () => socket.write(request))
    socket.on('error', reject)
    socket.on('data', (data: Uint8Array) => {
      text += new TextDecoder().decode(data)
      if (text.split('\r\n').length <= lines) return
      socket.destroy()
      resolve(text)
    })
  })
}
