import { bytes, choice, decimal, flag, int, intOrNull, textOrNull } from '../kinds.ts'

/** Characters of a page that people read. */
const longestPage = 1_000_000

/** What pages look like and offer. */
export const interfaceSettings = {
  floc_enabled: flag(
    false,
    'When false (default) HTML responses carry Permissions-Policy: interest-cohort=(); when true the header is left out.',
    { strict: true },
  ),
  performance_bar_allowed_group_id: intOrNull(null, 'Members of this group may show the performance bar.', {
    recorded: true,
  }),
  polling_interval_multiplier: decimal(
    1,
    'Stretches how often clients are to ask again. Answers of endpoints that are asked again and again tell the milliseconds in `Poll-Interval`; 0 makes it -1, not at all.',
    { min: 0, strict: true },
  ),
  help_page_text: textOrNull(null, 'Markdown on the help page.', { longest: longestPage, recorded: true }),
  help_page_hide_commercial_content: flag(false, 'Hides marketing entries on the help page.', {
    strict: true,
    recorded: true,
  }),
  help_page_support_url: textOrNull(null, 'Support link of the help page.', { recorded: true }),
  help_page_documentation_base_url: textOrNull(null, 'Base address of the documentation.', {
    longest: 255,
    recorded: true,
  }),
  hide_third_party_offers: flag(false, 'Hides offers of other companies.', { recorded: true }),
  sidekiq_job_limiter_mode: choice(
    ['track', 'compress'],
    'compress',
    'What to do with large background job arguments.',
    { unlisted: 'is not included in the list', recorded: true },
  ),
  sidekiq_job_limiter_compression_threshold_bytes: bytes(100_000, 'Arguments above this are compressed.', {
    min: 0,
    recorded: true,
  }),
  sidekiq_job_limiter_limit_bytes: bytes(0, 'Arguments above this are refused; 0 off.', {
    min: 0,
    recorded: true,
  }),
  namespace_aggregation_schedule_lease_duration_in_seconds: int(
    300,
    'Least time between refreshes of namespace statistics.',
    { min: 1, strict: true, recorded: true },
  ),
}
