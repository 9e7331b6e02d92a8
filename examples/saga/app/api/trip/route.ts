import { Redis } from '@upstash/redis'
import { serve } from '@upstash/workflow/nextjs'
import { award, bookFlight, bookHotel, cancelFlight, type Trip } from '../../../trip.ts'

// A route of Next.js for production. It reads its configuration from the environment on import.

export const { POST } = serve<Trip>(
  async (context) => {
    const trip = context.requestPayload
    const flight = await context.call('flight', bookFlight(trip))
    if (flight.status >= 400) return 'no flight'
    const hotel = await context.call('hotel', bookHotel(trip))
    if (hotel.status >= 400) {
      await context.call('cancel flight', cancelFlight(trip))
      return 'no hotel'
    }
    await context.run('points', () => award(Redis.fromEnv(), trip))
    return 'booked'
  },
  {
    failureFunction: async ({ context }) => {
      const { id } = context.requestPayload
      await Redis.fromEnv().sadd('needs a person', id)
    },
  },
)
