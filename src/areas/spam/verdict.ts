/** What is done with a text, the strictest last. `captcha`: it is said once a captcha is solved, where there is one. */
const verdicts = ['allow', 'captcha', 'refuse'] as const
export type Verdict = (typeof verdicts)[number]

export function strictest(given: readonly (Verdict | false)[]): Verdict {
  return verdicts.findLast((verdict) => given.includes(verdict)) ?? 'allow'
}
