import { handle } from '@upstash/realtime'
import { realtime } from './realtime.ts'

/** Streams events to browsers. A browser without a session may read only the public channel. */
export const GET = handle({
  realtime,
  middleware: ({ request, channels }) => {
    const isPublic = channels.every((channel) => channel === 'news')
    if (!isPublic && !request.headers.has('cookie')) return new Response('sign in first', { status: 401 })
  },
})
