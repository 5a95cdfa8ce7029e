import { letter, type Mail } from '../../mail/index.ts'
import type { ReportRow } from './store.ts'

/** Tells whoever looks after such things. */
export function reportMail(
  { id, user, reporter, category, message, reported_from_url: from }: ReportRow,
  address: string,
  externalUrl: string,
): Mail {
  return {
    key: `abuse report ${id} to ${address}`,
    to: { address },
    subject: `${user.name} (@${user.username}) was reported for abuse`,
    text: letter({
      paragraphs: [
        `${reporter.name} (@${reporter.username}) reports ${user.name} (@${user.username}): ${category}.`,
        message,
        ...(from === null ? [] : [`It was seen at ${from}`]),
        `All reports: GET ${externalUrl}/api/v4/abuse_reports`,
      ],
      why: 'The instance is configured to send reports of abuse to this address.',
    }),
  }
}
