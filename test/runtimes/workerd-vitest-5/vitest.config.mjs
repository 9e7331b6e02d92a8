import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

const compatibilityFlags = process.env.COMPATIBILITY_FLAGS?.split(',').filter((flag) => flag !== '') ?? []

export default defineConfig({
  plugins: [cloudflareTest({ miniflare: { compatibilityDate: '2026-10-01', compatibilityFlags } })],
})
