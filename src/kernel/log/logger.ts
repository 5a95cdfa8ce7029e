import { pino, type Logger } from 'pino'

export type { Logger } from 'pino'
export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** Structured lines on standard error. Fields that can hold a secret are cut out, whoever logs them. */
export function createLogger(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: [
          'token',
          'password',
          'private_token',
          '*.token',
          '*.password',
          '*.private_token',
          '*.authorization',
        ],
        censor: '[FILTERED]',
      },
    },
    pino.destination({ fd: 2, sync: false }),
  )
}
