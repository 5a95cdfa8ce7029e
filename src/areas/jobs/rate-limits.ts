import { RateLimit } from '../../kernel/lib/rate-limit.ts'

/** The application limits of jobs (conventions, 1.13). */
export interface RateLimits {
  readonly trace: RateLimit
  readonly jobCalls: RateLimit
}

export function rateLimits(): RateLimits {
  return {
    trace: new RateLimit(200, 60),
    jobCalls: new RateLimit(200, 60),
  }
}
