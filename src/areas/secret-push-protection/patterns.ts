/** A kind of secret, told by its form alone. */
export interface SecretPattern {
  readonly name: string
  readonly pattern: RegExp
}

/** Only forms that nothing else has, since whoever pushes is stopped by them. */
export const secretPatterns: readonly SecretPattern[] = [
  { name: 'Personal access token', pattern: /\bglpat-[\w-]{20,}/ },
  { name: 'OAuth application secret', pattern: /\bgloas-[\w-]{64}/ },
  { name: 'Deploy token', pattern: /\bgldt-[\w-]{20,}/ },
  { name: 'Runner authentication token', pattern: /\bglrtr?-[\w-]{20,}/ },
  { name: 'Runner registration token', pattern: /\bGR1348941[\w-]{20,}/ },
  { name: 'Pipeline trigger token', pattern: /\bglptt-[\w-]{20,}/ },
  { name: 'Feed token', pattern: /\bglft-[\w-]{20,}/ },
  { name: 'Feature flag client token', pattern: /\bglffct-[\w-]{20,}/ },
  { name: 'SCIM token', pattern: /\bglsoat-[\w-]{20,}/ },
  { name: 'Private key', pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/ },
  { name: 'AWS access key', pattern: /\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/ },
  { name: 'GitHub token', pattern: /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36}\b|\bgithub_pat_\w{82}\b/ },
  { name: 'Google API key', pattern: /\bAIza[\w-]{35}\b/ },
  { name: 'Slack token', pattern: /\bxox[abeprs]-(?:\d+-)+[A-Za-z0-9]{10,}/ },
  { name: 'Stripe live key', pattern: /\b[rs]k_live_[A-Za-z0-9]{24,}/ },
  { name: 'npm access token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  { name: 'PyPI upload token', pattern: /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}/ },
  { name: 'SendGrid API key', pattern: /\bSG\.[\w-]{22}\.[\w-]{43}\b/ },
]

export interface FoundSecret {
  readonly name: string
  readonly line: number
}

/** Whoever means what he writes says so in the line itself. */
const ignored = 'gitleaks:allow'

/** The first secret among these lines. */
export function findSecret(
  lines: Iterable<{ readonly number: number; readonly text: string }>,
): FoundSecret | undefined {
  for (const { number, text } of lines) {
    if (text.includes(ignored)) continue
    const found = secretPatterns.find(({ pattern }) => pattern.test(text))
    if (found !== undefined) return { name: found.name, line: number }
  }
  return undefined
}
