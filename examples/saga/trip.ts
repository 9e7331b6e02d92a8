import type { Redis } from '@upstash/redis'

// The parts of a trip, and how each part is booked and canceled.

export interface Trip {
  readonly id: string
  readonly traveler: string
}

export const air = 'https://air.test/bookings'
export const stay = 'https://stay.test/bookings'

/** Books once per key of a trip, also if the request is repeated. */
export const bookFlight = ({ id, traveler }: Trip) => ({
  url: air,
  method: 'POST' as const,
  headers: { 'Idempotency-Key': id },
  body: JSON.stringify({ traveler }),
  retries: 2,
})

export const bookHotel = ({ id, traveler }: Trip) => ({ ...bookFlight({ id, traveler }), url: stay })

/** Cancels a booking. It must succeed, so it has more retries. */
export const cancelFlight = ({ id }: Trip) => ({ url: `${air}/${id}`, method: 'DELETE' as const, retries: 5 })

/** Writes the points into one field per trip, so that writing again has no effect. */
export async function award(redis: Redis, { id, traveler }: Trip): Promise<void> {
  await redis.hset(`points:${traveler}`, { [id]: 100 })
}

/** Defective variant: it adds the points again if the process dies before the step is submitted. */
export async function awardCarelessly(redis: Redis, { traveler }: Trip): Promise<void> {
  await redis.incrby(`points of ${traveler}`, 100)
}
