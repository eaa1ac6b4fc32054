# The formula of heddle. The workflow of a release replaces @VERSION@ and @SHA256@ and attaches the result.
class Heddle < Formula
  desc "Find synchronization bugs in CUDA and OpenCL kernels, without a GPU"
  homepage "https://github.com/OWNER/heddle"
  url "https://github.com/OWNER/heddle/archive/refs/tags/v@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "go" => :build
  depends_on "llvm"

  def install
    ldflags = "-s -w -X main.version=v#{version}"
    system "go", "build", *std_go_args(ldflags:), "./cmd/heddle"
    generate_completions_from_executable(bin/"heddle", "completion")
    system bin/"heddle", "man", man1
    # Homebrew keeps its clang off PATH, and Apple's has no back end for PTX.
    libexec.install bin/"heddle"
    (bin/"heddle").write_env_script libexec/"heddle", PATH: "#{Formula["llvm"].opt_bin}:$PATH"
  end

  test do
    assert_match "race-shared", shell_output("#{bin}/heddle demo")
  end
end
