"""Values beside a name: which are masked, and which only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.masking.find import finder

FIXTURES = Path(__file__).parents[1] / "fixtures"

#: Nothing here is a secret.
PLAIN = r"""
sk-...
OPENAI_API_KEY=<YOUR_KEY>
OPENAI_API_KEY=sk-your-api-key-here
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
integrity="sha512-oGDuwyPvZnNRMwEFDpfDL3eaWGLQ3pbWJPZrIqWG5dUqVKPVMQVFLvVQGVnGBVhE6zAcvHVSXRqlKdVYr1wbTw=="
"integrity": "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
commit 9f20053ad3f1c8bd1b2bfe7a23b6ce3e1f5d7c11
token: 550e8400-e29b-41d4-a716-446655440000
"sessionToken":"550e8400-e29b-41d4-a716-446655440000"
password = os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
PASSWORD=$(pass show db)
DB_PASSWORD=changeme
password = getpass.getpass()
token = parts[0].strip()
self.token = token_from_header(request)
"max_tokens": 4096000000
"input_tokens":12345678,"output_tokens":87654321
KEY_FILE=/etc/ssl/private/server.key
SECRET_NAME=my-database-secret-prod-01
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
"primaryKey": "a1b2c3d4e5f6a7b8c9d0e1f2"
cacheKey = "node-modules-8f14e45fceea167a5a36dedd4bea2543"
key: v1-deps-{{ checksum "package-lock.json" }}
"nextPageToken": "CAUQAAglf83hfASKDFH73hf7a"
postgres://user:password@localhost:5432/db
postgres://postgres:postgres@db/app
mysql://root:root@127.0.0.1
https://user:pass@example.com
redis://localhost:6379/0
git@github.com:foo/bar.git
docker run -u 1000:1000 -v a:b
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer YOUR_TOKEN_HERE
-H "X-API-Key: YOUR_API_KEY"
Cookie: theme=dark; lang=en-US
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS ann@host
トークン数は12345678です。パスワードを入力してください。
パスワード：認証に使います
password must be at least 8 characters
"password": "string"
"password": {"type": "string", "minLength": 8}
<input type="password" name="password" id="login-password-1">
const PASSWORD_MIN_LENGTH = 12
csrf_token = generate_csrf()
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
API_KEY = config.get('API_KEY')
api_key=settings.OPENAI_API_KEY,
token_type = "Bearer"
"token_endpoint": "https://login.example.org/oauth2/v2.0/token"
toolu_01A09q90qw90lq917835lq9
msg_01XFDUDYJgAACzvnptvVoYEL
"signature":"EqQBCkgIARABGAIiQL8VYl3hkQ7hQxXw9nQpXx"
"id":"chatcmpl-9nZ8yQmJ1dKxQf2YV3h4J5k6L7m8N"
pip install foo==1.2.3 --hash=sha256:6d8ebb2b52a73feaf8be8e6d3b8badcd49986093bbb33945a42f053d4f8fe843
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
"encrypted_content": "gAAAAABoL1"
secret: my-secret
kubectl create secret generic db-user-pass --from-literal=password=example
SECRET_KEY = 'django-insecure-changeme'
"resume_token": "aaaa"
"access_token": "REDACTED"
password: [masked: password #3f2a]
npm_config_registry_some_very_long_name_here_ok
sk-learn-contrib-something-really-long-name-here
hf_hub_download_something_something_abcd
--token-limit 100000000
"subkey":"TestSubjectKey123456"
private_key | Ed25519PrivateKey | Ed448PrivateKey
credentials: frozenset({ParameterLocation.HEADER, ParameterLocation.QUERY})
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
Idempotency-Key: 550e8400-e29b-41d4-a716-446655440000
| Token | Tokens per second |
the token is expired
password is required
パスワードは必須です
mysql -h db.example.org -P 3306 --protocol=tcp shop
docker run -p 8080:8080 registry/login
redis-cli -h cache -p 6379 get session
zip -r archive.zip src
if (password === "correct horse") {
user.password = hashPassword(input.password)
secretName: tls-secret-prod-2024-01
"""
#: A password, token or key stands in each of these.
SECRET = r"""
DB_PASSWORD=hunter2hunter2
export DB_PASSWORD="Sup3rS3cretPassw0rd"
password: "Tr0ub4dor&3"
"password":"p@ssw0rd!2024x"
mysql -u root --password=s3cr3tP4ss
--password s3cr3tP4ssw0rd
PGPASSWORD=correct-horse-battery-staple psql
{\"password\": \"Xk29fjQ!bb\"}
apiKey: 'AbC123xyz789QwErTy456'
postgres://app:S3cr3tPw@db.internal/app
mongodb+srv://ann:kj3h4k5j3h4@cluster0.abc.mongodb.net
amqp://svc:Zx9!kd02k@rabbit:5672
redis://:k3jh45kj3h45k@cache:6379
Server=db;Database=x;User Id=sa;Password=Xk29fjQQbb!;
<password>Xk29fjQQbb!</password>
"auths":{"https://index.docker.io/v1/":{"auth":"YW5uOlhrMjlmalFRYmIh"}}
- name: DB_PASSWORD\n  value: Xk29fjQQbb
{"name": "DB_PASSWORD", "value": "Xk29fjQQbb77"}
HEROKU_API_KEY=550e8400-e29b-41d4-a716-446655440000
     3	DB_PASSWORD=Xk29fjQQbb77
+DB_PASSWORD=Xk29fjQQbb77
パスワード：Xk29fjQQbb77
DATABASE_PASSWORD: Xk29fjQQbb77
AWS_SECRET_ACCESS_KEY=q8Jd72hGs9Ks02lsK3jd82+hs7sHs/2js82kals9
"SecretAccessKey": "q8Jd72hGs9Ks02lsK3jd82+hs7sHs/2js82kals9",
sshpass -p 'Xk29fjQQ' ssh a@b
curl -u admin:Xk29fjQQbb77 https://x
conn = psycopg2.connect(host="x", password="Xk29fjQQbb77")
Server=db;Uid=sa;Pwd=Xk29fjQQbb;
smtp: {user: ann, pass: Xk29fjQQbb77}
psk="Xk29fjQQbb77"
"password": "Summer2024!"
password="A(b)Xk29fj$QQ"
client = Client().password("Xk29fjQQbb77z")
setApiKey('AbC123xyz789QwErTy456')
The API key is AbC123xyz789QwErTy456.
- **API key:** `AbC123xyz789QwErTy456`
| Password | Xk29fjQQbb77 |
APIキー: AbC123xyz789QwErTy456
パスワードは Xk29fjQQbb77 です
パスワードは「Xk29fjQQbb77」です
set -gx STRIPE_SECRET Xk29fjQQbb77
ENV DB_PASSWORD Xk29fjQQbb77
<key>ApiKey</key>\n<string>AbC123xyz789QwErTy456</string>
var secret = @"AbC123xyz789QwErTy456";
//registry.npmjs.org/:_authToken=550e8400-e29b-41d4-a716-446655440000
SNYK_TOKEN=550e8400-e29b-41d4-a716-446655440000
{"apiKey": "550e8400-e29b-41d4-a716-446655440000"}
DD-APPLICATION-KEY: 4d57a8d206cedc228e3b9a8d3c6e1274b36c4ace
Fastly-Key: AbC123xyz789QwErTy456
"signingKey": "AbC123xyz789QwErTy456"
mysqldump -uroot -pXk29fjQQbb77 shop
redis-cli -h cache -a Xk29fjQQbb77 ping
docker login -u ann -p Xk29fjQQbb77 registry.example.org
openssl enc -aes-256-cbc -k Xk29fjQQbb77 -in a
7z x -pXk29fjQQbb77 a.7z
gh secret set DEPLOY_TOKEN --body "AbC123xyz789QwErTy456"
ann:$apr1$Xk29fjQQ$b77Xk29fjQQb77Xk29fj/.
{\"auths\":{\"docker.io\":{\"auth\":\"YW5uOlhrMjlmalFRYmIh\"}}}
"""


@pytest.mark.parametrize("line", PLAIN.strip().splitlines())
def test_nothing_is_masked_that_is_no_secret(line: str) -> None:
    assert finder().find(line.encode()) == []


@pytest.mark.parametrize("line", SECRET.strip().splitlines())
def test_a_value_beside_its_name_is_masked(line: str) -> None:
    assert len(finder().find(line.encode())) == 1


def test_nothing_in_the_fixtures_of_any_source_is_masked() -> None:
    found = {
        str(file): [finding.kind for finding in findings]
        for file in FIXTURES.rglob("*")
        if file.is_file() and (findings := finder().find(file.read_bytes()))
    }
    assert found == {}
