//! All rules with descriptions, for reports and documentation.

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable, because reports contain it.
    pub id: &'static str,
    /// A short description of what it finds.
    pub finds: &'static str,
}

const fn rule(id: &'static str, finds: &'static str) -> Rule {
    Rule { id, finds }
}

/// All rules, sorted by id.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("adafruit-key", "an Adafruit IO key (`aio_…`)"),
    rule("address-password", "an address with a user's password (`https://user:…@host`)"),
    rule("age-secret-key", "an age secret key (`AGE-SECRET-KEY-1…`)"),
    rule("airtable-token", "an Airtable token (`pat….…`)"),
    rule("alibaba-key-id", "an access key id of Alibaba Cloud (`LTAI5t…`)"),
    rule("anthropic-key", "an Anthropic API key (`sk-ant-…`)"),
    rule("assigned-secret", "a random value of 20 characters or more, assigned to a name such as `api_key`, `secret`, `token` or `password`"),
    rule("atlassian-token", "an Atlassian or Bitbucket token (`ATATT3…`, `ATCTT3…`, `ATBB…`)"),
    rule("aws-access-key-id", "an AWS access key id (`AKIA…`, `ASIA…`)"),
    rule("aws-bedrock-key", "an Amazon Bedrock API key (`ABSK…`)"),
    rule("aws-secret-access-key", "40 characters assigned to a name such as `aws_secret_access_key`"),
    rule("azure-client-secret", "a client secret of Microsoft Entra (`…8Q~…`)"),
    rule("azure-devops-token", "a personal access token of Azure DevOps (`…AZDO…`)"),
    rule("azure-key", "an account key in an Azure connection string (`AccountKey=…`)"),
    rule("azure-signature", "an address with a shared access signature of Azure (`?sv=…&sig=…`)"),
    rule("braintree-token", "a Braintree or PayPal access token (`access_token$production$…`)"),
    rule("brevo-key", "a Brevo API key (`xkeysib-…`)"),
    rule("buildkite-token", "a Buildkite token (`bkua_…`)"),
    rule("circleci-token", "a CircleCI token (`CCIPAT_…`)"),
    rule("clojars-token", "a Clojars token (`CLOJARS_…`)"),
    rule("cloudflare-key", "a key of the Cloudflare origin CA (`v1.0-…`)"),
    rule("connection-password", "a connection string with a password (`postgres://user:…@host`)"),
    rule("contentful-token", "a Contentful token (`CFPAT-…`)"),
    rule("crates-io-token", "a crates.io token (`cio…`)"),
    rule("credential-file", "a file that programs keep credentials in (`.netrc`, `id_rsa`, `.aws/credentials`, …)"),
    rule("databricks-token", "a Databricks token (`dapi…`)"),
    rule("digitalocean-token", "a DigitalOcean token (`dop_v1_…`, `doo_v1_…`, `dor_v1_…`)"),
    rule("discord-token", "the token of a Discord bot (`M….….…`)"),
    rule("discord-webhook", "the address of a Discord web hook"),
    rule("docker-hub-token", "a Docker Hub token (`dckr_pat_…`, `dckr_oat_…`)"),
    rule("doppler-token", "a Doppler token (`dp.pt.…`)"),
    rule("dotenv-file", "a dotenv file (`.env`, `.env.*`, `*.env`; not `.env.example`, `.sample`, `.template`, `.dist`)"),
    rule("dropbox-token", "a Dropbox access token (`sl.…`)"),
    rule("duffel-token", "a Duffel live token (`duffel_live_…`)"),
    rule("dynatrace-token", "a Dynatrace token (`dt0c01.….…`)"),
    rule("easypost-key", "an EasyPost key (`EZAK…`)"),
    rule("facebook-token", "a Facebook access token (`EAACEdEose0cBA…`)"),
    rule("figma-token", "a Figma token (`figd_…`)"),
    rule("firebase-token", "a token of Firebase Cloud Messaging (`…:APA91b…`)"),
    rule("fly-io-token", "a Fly.io token (`fm2_…`, `fo1_…`)"),
    rule("frame-io-token", "a Frame.io token (`fio-u-…`)"),
    rule("github-token", "a GitHub token (`ghp_…`, `gho_…`, `ghu_…`, `ghs_…`, `ghr_…`, `github_pat_…`)"),
    rule("gitlab-token", "a GitLab token (`glpat-…` and its relatives)"),
    rule("google-api-key", "a Google API key (`AIza…`)"),
    rule("google-oauth-secret", "a Google OAuth client secret (`GOCSPX-…`)"),
    rule("google-oauth-token", "a Google OAuth access token (`ya29.…`)"),
    rule("grafana-token", "a Grafana token (`glsa_…`, `glc_…`)"),
    rule("groq-api-key", "a Groq API key (`gsk_…`)"),
    rule("heroku-api-key", "a Heroku API key (`HRKU-…`, or a UUID assigned to `HEROKU_API_KEY`)"),
    rule("hubspot-token", "a HubSpot private app token (`pat-na1-…`)"),
    rule("hugging-face-token", "a Hugging Face token (`hf_…`)"),
    rule("infracost-key", "an Infracost key (`ico-…`)"),
    rule("jfrog-api-key", "a JFrog API key or reference token (`AKCp…`, `cmVmdGtuOj…`)"),
    rule("json-web-token", "a signed JSON Web Token (`eyJ….eyJ….…`)"),
    rule("key-store", "a key store (`*.p12`, `*.pfx`, `*.jks`, `*.keystore`, `*.kdbx`, …)"),
    rule("langsmith-key", "a LangSmith key (`lsv2_pt_…`, `lsv2_sk_…`)"),
    rule("linear-key", "a Linear key (`lin_api_…`, `lin_oauth_…`)"),
    rule("mailchimp-key", "a Mailchimp key (32 hexadecimal digits and `-us12`)"),
    rule("mailgun-key", "a Mailgun key (`key-…`)"),
    rule("mapbox-token", "a secret Mapbox token (`sk.eyJ1Ijoi…`)"),
    rule("netlify-token", "a Netlify token (`nfp_…`)"),
    rule("new-relic-key", "a New Relic key (`NRAK-…`, `NRII-…`)"),
    rule("notion-token", "a Notion token (`ntn_…`, `secret_…`)"),
    rule("npm-token", "an npm token (`npm_…`)"),
    rule("npmrc-token", "a registry's token or password in `.npmrc` (`_authToken=…`, `_auth=…`)"),
    rule("nuget-key", "a NuGet key (`oy2…`)"),
    rule("one-password-token", "a 1Password service account token or secret key (`ops_eyJ…`, `A3-…`)"),
    rule("openai-key", "an OpenAI key, or another of its form (`sk-…`)"),
    rule("openrouter-key", "an OpenRouter key (`sk-or-v1-…`)"),
    rule("perplexity-key", "a Perplexity key (`pplx-…`)"),
    rule("pinecone-key", "a Pinecone key (`pcsk_…`)"),
    rule("plaid-token", "a Plaid access token (`access-production-…`)"),
    rule("planetscale-token", "a PlanetScale token or password (`pscale_…`)"),
    rule("postman-key", "a Postman key (`PMAK-…`)"),
    rule("prefect-key", "a Prefect key (`pnu_…`)"),
    rule("private-key", "a private key (PEM, OpenSSH, PGP, PuTTY; also inside JSON)"),
    rule("pulumi-token", "a Pulumi token (`pul-…`)"),
    rule("pypi-token", "a PyPI token (`pypi-AgE…`)"),
    rule("readme-key", "a ReadMe key (`rdme_…`)"),
    rule("replicate-token", "a Replicate token (`r8_…`)"),
    rule("rubygems-key", "a RubyGems key (`rubygems_…`)"),
    rule("sendgrid-key", "a SendGrid key (`SG.….…`)"),
    rule("sentry-token", "a Sentry token (`sntrys_…`, `sntryu_…`)"),
    rule("shopify-token", "a Shopify token (`shpat_…` and its relatives)"),
    rule("slack-token", "a Slack token (`xoxb-…` and its relatives, `xapp-…`)"),
    rule("slack-webhook", "the address of a Slack web hook"),
    rule("sonarqube-token", "a SonarQube token (`sqp_…`, `squ_…`, `sqa_…`)"),
    rule("square-token", "a Square token (`sq0atp-…`, `sq0csp-…`, `EAAA…`)"),
    rule("stripe-key", "a Stripe live key or signing secret (`sk_live_…`, `rk_live_…`, `whsec_…`)"),
    rule("supabase-key", "a Supabase key (`sbp_…`, `sb_secret_…`)"),
    rule("tailscale-key", "a Tailscale key (`tskey-…`)"),
    rule("teams-webhook", "the address of a Microsoft Teams web hook"),
    rule("telegram-token", "a Telegram bot token (`123456789:AA…`)"),
    rule("tencent-key-id", "a secret id of Tencent Cloud (`AKID…`)"),
    rule("terraform-token", "a Terraform Cloud token (`….atlasv1.…`)"),
    rule("typeform-token", "a Typeform token (`tfp_…`)"),
    rule("vault-token", "a HashiCorp Vault token (`hvs.…`, `hvb.…`)"),
    rule("xai-key", "an xAI key (`xai-…`)"),
    rule("yandex-key", "a Yandex Cloud API key (`AQVN…`)"),
];

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_sorted_and_unique() {
        assert!(super::RULES.is_sorted_by(|a, b| a.id < b.id));
    }
}
