import type { Redis } from '@upstash/redis'

// What a trip consists of, and how each part is booked and taken back.

export interface Trip {
  readonly id: string
  readonly traveler: string
}

export const air = 'https://air.test/bookings'
export const stay = 'https://stay.test/bookings'

/** With the key of the trip, a booking that is asked for twice is made once. */
export const bookFlight = ({ id, traveler }: Trip) => ({
  url: air,
  method: 'POST' as const,
  headers: { 'Idempotency-Key': id },
  body: JSON.stringify({ traveler }),
  retries: 2,
})

export const bookHotel = ({ id, traveler }: Trip) => ({ ...bookFlight({ id, traveler }), url: stay })

/** Has to succeed, so it is tried for longer. */
export const cancelFlight = ({ id }: Trip) => ({ url: `${air}/${id}`, method: 'DELETE' as const, retries: 5 })

/** A field for each trip: whoever writes it again writes the same. */
export async function award(redis: Redis, { id, traveler }: Trip): Promise<void> {
  await redis.hset(`points:${traveler}`, { [id]: 100 })
}

/** As it was written first: adds once more whenever the process dies before its step is submitted. */
export async function awardCarelessly(redis: Redis, { traveler }: Trip): Promise<void> {
  await redis.incrby(`points of ${traveler}`, 100)
}
